import { failsWhenBroken, understandsNames } from '../faults/controls.ts';

understandsNames('crash');
failsWhenBroken('crash');
