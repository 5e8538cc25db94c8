import { failsWhenBroken, understandsNames } from '../faults/controls.ts';

understandsNames('clients');
failsWhenBroken('clients');
