import { fitsSources, isSeen, understandsNames } from './controls.ts';

fitsSources();
understandsNames('race');
isSeen('race', {
  'claim-before-stage': /invariant 2 \(by-hash\): the record of sid names/,
  'commit-before-rename': /invariant 1 \(canonical\)/,
  'rename-before-claim': /invariant 1 \(canonical\)/,
  'delete-before-grace': /invariant 2 \(by-hash\): sid has forgotten/,
  'no-condition-on-claim': /alice_1\.0_amd64\.deb of alice is not in sid|invariant [124]/,
  'no-condition-on-head': /invariant 4 \(head\): the head of sid went from generation/,
  'no-restoring': /invariant 1 \(canonical\)/,
  'unverified-read': /lists evil\/.*, which is missing/,
  'no-lease': /invariant [14]/,
  'take-over-at-once': /invariant 1 \(canonical\)/,
  'no-second-look': /invariant 2 \(pool\)/,
});
