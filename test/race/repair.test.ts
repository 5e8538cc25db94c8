import { after, describe, test } from 'node:test';
import { Debs, suiteOf } from '../publish/publishing.ts';
import { RepositoryCheck } from '../publish/repository-check.ts';
import { exploreAll, exploreSome, type Scenario } from './exploration.ts';
import { bodies } from './object-model.ts';
import { history, type Publisher, race } from './publishers.ts';
import { assertSound, commutes, insideClaim } from './races.ts';

const debs = new Debs();
after(() => debs[Symbol.dispose]());
const check = new RepositoryCheck();
const [hello, two] = [debs.add('hello'), debs.add('two', { Package: 'two' })];

const list = 'dists/sid/main/binary-amd64/Packages.gz';
const published = await history([{ name: 'publisher-first', request: { suites: [suiteOf('sid', hello)] } }]);
/** The list has no name, and clients that go by names fail. */
const broken = { ...published, objects: new Map([...published.objects].filter(([key]) => key !== list)) };

const mender: Publisher = {
  name: 'mender',
  request: {
    command: 'verify',
    suites: [{ suite: 'sid' }],
    renameConcurrency: 'auto',
    uploadConcurrency: 'auto',
    deep: false,
    repair: true,
  },
};
const publisher: Publisher = { name: 'publisher', request: { suites: [suiteOf('sid', two)] } };
const wanted = { publisher: ['sid', 'two_1.0_amd64.deb'] } as const;
// It is broken at first, and a name that is mended may be one that the publisher has just replaced, until the mender looks again.
const admits: Scenario['admits'] = ['canonical'];
const atEnd: Scenario['atEnd'] = async ({ objects, processes }) =>
  processes.some(({ held }) => held !== undefined)
    ? []
    : (await check.findings(bodies(objects), true)).map(({ what }) => what);

describe('a repair beside a publisher leaves every name as the newest generation says', () => {
  test('in hundreds of orders, systematically', async (t) => {
    const begin = () => race(broken, [mender, publisher], { patience: 200 });
    assertSound(t, await exploreAll({ check, begin, wanted, admits, atEnd, isLocal: commutes }, 400));
  });

  test('in orders drawn by chance, when the publisher stands still inside its claim and goes on', async (t) => {
    const begin = () => race(broken, [mender, publisher]);
    const mayHold: Scenario['mayHold'] = (request, name) => name === 'publisher' && insideClaim(request);
    assertSound(t, await exploreSome({ check, begin, wanted, admits, atEnd, mayHold }, 1, 60));
  });
});
