import { failsWhenBroken, understandsNames } from '../faults/controls.ts';

understandsNames('vendors');
failsWhenBroken('vendors');
