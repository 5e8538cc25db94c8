import { failsWhenBroken, fitsSources, understandsNames } from '../faults/controls.ts';

fitsSources();
understandsNames('race');
failsWhenBroken('race');
