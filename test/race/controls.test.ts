import { failsWhenBroken, fitsSources, understandsNames } from './controls.ts';

fitsSources();
understandsNames('race');
failsWhenBroken('race');
