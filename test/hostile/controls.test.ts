import { failsWhenBroken, understandsNames } from '../faults/controls.ts';

understandsNames('hostile');
failsWhenBroken('hostile');
