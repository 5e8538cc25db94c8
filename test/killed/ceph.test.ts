import { cephMissing } from '../rig/ceph.ts';
import { cephPrefixes } from './places.ts';
import { proveDeaths } from './proof.ts';

proveDeaths('Ceph', { open: cephPrefixes, kills: 30, seed: 20_260_201, skip: cephMissing() });
