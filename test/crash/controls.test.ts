import { failsWhenBroken, understandsNames } from '../race/controls.ts';

understandsNames('crash');
failsWhenBroken('crash');
