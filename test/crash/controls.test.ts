import { isSeen, understandsNames } from '../race/controls.ts';

understandsNames('crash');
isSeen('crash', {
  'claim-before-stage': /rule: 'by-hash'/,
  'commit-before-rename': /rule: 'canonical'/,
  'rename-before-claim': /rule: 'canonical'/,
  'delete-before-grace': /has forgotten \d of its last generations/,
  'no-condition-on-claim': /readers see|invariant: [124]/,
  'no-condition-on-head': /the head of sid went from generation/,
  'no-restoring': /rule: 'canonical'/,
  'unverified-read': /lists evil\/.*, which is missing/,
  'no-lease': /frozen, with its answer/,
});
