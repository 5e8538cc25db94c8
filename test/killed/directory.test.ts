import { folders } from './places.ts';
import { proveDeaths } from './proof.ts';

proveDeaths('a directory', { open: folders, kills: 30, seed: 20_260_101, skip: false });
