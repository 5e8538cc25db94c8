import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { commandStage } from '../../src/perf/command-stage.ts';
import type { ComparisonRecord } from '../../src/perf/comparison-record.ts';
import { followStage, progress } from '../../src/perf/follow-stage.ts';
import { reportStage } from '../../src/perf/report-stage.ts';
import { StageInputs } from '../../src/perf/stage-inputs.ts';
import { type FakeRunner, fakeRunner } from '../action/fake-runner.ts';
import { place } from '../rig/github-server.ts';
import { type TemporaryFolder, temporaryFolder } from '../rig/temporary.ts';
import { TestClock } from '../store/clocks.ts';
import { base, head, pairing, sampleComparison } from './comparison-samples.ts';
import { type PullRequestServer, startPullRequestServer } from './pull-request-server.ts';

const other = '9'.repeat(40);
let folder: TemporaryFolder;
const outside = process.env['GITHUB_STEP_SUMMARY'];
before(async () => {
  folder = await temporaryFolder();
  process.env['GITHUB_STEP_SUMMARY'] = join(folder.path, 'summary.md');
  await writeFile(join(folder.path, 'summary.md'), '');
});
after(async () => {
  if (outside === undefined) delete process.env['GITHUB_STEP_SUMMARY'];
  else process.env['GITHUB_STEP_SUMMARY'] = outside;
  await folder[Symbol.asyncDispose]();
});

function runnerOf(server: PullRequestServer, inputs: Readonly<Record<string, string>>, run = 100): FakeRunner {
  return fakeRunner(
    { 'github-token': 'workflow-token', number: String(place.number), base, head, pairing, ...inputs },
    {
      GITHUB_API_URL: server.api,
      GITHUB_REPOSITORY: place.repository,
      GITHUB_RUN_ID: String(run),
      GITHUB_RUN_ATTEMPT: '1',
      GITHUB_EVENT_PATH: join(folder.path, 'event.json'),
    },
  );
}

async function command(server: PullRequestServer, body: string, login = 'octocat', run = 100): Promise<FakeRunner> {
  const event = {
    action: 'created',
    comment: { id: 1, body, user: { login } },
    issue: { number: place.number, pull_request: {} },
    repository: { default_branch: 'main' },
  };
  await writeFile(join(folder.path, 'event.json'), JSON.stringify(event));
  const runner = runnerOf(server, {}, run);
  await commandStage(new StageInputs(runner), new TestClock(), runner);
  return runner;
}

async function report(server: PullRequestServer, record: ComparisonRecord | string, more: Record<string, string> = {}) {
  const path = join(folder.path, 'comparison.json');
  await writeFile(path, typeof record === 'string' ? record : JSON.stringify(record));
  const runner = runnerOf(server, { record: path, ...more });
  await reportStage(new StageInputs(runner), new TestClock(), runner);
  return runner;
}

const headline = (server: PullRequestServer) => /^## (.*)$/m.exec(server.comments.all[0]?.body ?? '')?.[1];

describe('the command /apt-perf', () => {
  it('binds itself to commits, tells the other jobs, and says that it is queued', async () => {
    await using server = await startPullRequestServer();
    const { outputs } = await command(server, '/apt-perf pairs=12 scenario=cold\nplease');
    assert.deepEqual(Object.fromEntries(outputs), {
      go: 'true',
      number: '7',
      pairing,
      head,
      base,
      fork: 'false',
      pairs: '12',
      scenarios: 'cold',
      endpoint: 'emulator',
      'noise-run': '77',
    });
    assert.equal(headline(server), 'apt-perf: queued');
    assert.match(server.comments.all[0]?.body ?? '', new RegExp(`head ${head} against base ${base}`));
  });

  for (const [login, may] of [
    ['boss', true],
    ['reader', false],
    ['stranger', false],
  ] as const) {
    it(`is ${may ? 'obeyed' : 'ignored without a comment'} when ${login} gives it`, async () => {
      await using server = await startPullRequestServer();
      const { outputs } = await command(server, '/apt-perf', login);
      assert.equal(outputs.get('go'), String(may));
      assert.equal(server.comments.all.length, may ? 1 : 0);
    });
  }

  it('is refused with its grammar when it has a word that is none', async () => {
    await using server = await startPullRequestServer();
    for (const words of [
      'pairs=7',
      'pairs=6 pairs=12',
      '$(id)',
      'main',
      'endpoint=https://example.org',
      'scenario=pruned',
    ]) {
      const { outputs } = await command(server, `/apt-perf ${words}`);
      assert.equal(outputs.get('go'), 'false', words);
      assert.equal(headline(server), 'apt-perf: refused');
    }
    assert.match(server.comments.all[0]?.body ?? '', /pairs=6/);
    assert.equal(server.comments.all.length, 1);
  });

  it('is none when the line only begins like it', async () => {
    await using server = await startPullRequestServer();
    const { outputs } = await command(server, '/apt-performance is bad');
    assert.equal(outputs.get('go'), 'false');
    assert.equal(server.comments.all.length, 0);
  });

  it('on a fork has to name the newest commit, all of it', async () => {
    await using server = await startPullRequestServer();
    server.facts.headRepository = { id: 2 };
    const go = async (body: string) => (await command(server, body)).outputs.get('go');
    assert.equal(await go('/apt-perf'), 'false');
    assert.match(server.comments.all[0]?.body ?? '', /comes from a fork/);
    assert.equal(await go(`/apt-perf ${head.slice(0, 12)}`), 'false');
    assert.equal(await go(`/apt-perf ${other}`), 'false');
    assert.equal(await go(`/apt-perf ${head} endpoint=s3`), 'false');
    assert.match(server.comments.all[0]?.body ?? '', /gets no keys of a real store/);
    assert.equal(await go(`/apt-perf ${head}`), 'true');
    server.facts.headRepository = null;
    const { outputs } = await command(server, `/apt-perf ${head}`);
    assert.equal(outputs.get('fork'), 'true');
  });

  it('is refused on a pull request that is closed', async () => {
    await using server = await startPullRequestServer();
    server.facts.state = 'closed';
    assert.equal((await command(server, '/apt-perf')).outputs.get('go'), 'false');
    assert.equal(headline(server), 'apt-perf: refused');
  });

  it('measures without a noise pool where the nights cannot be asked for', async () => {
    await using server = await startPullRequestServer();
    server.facts.forbidden.add('actions/workflows/perf-nightly.yml/runs');
    const { outputs } = await command(server, '/apt-perf');
    assert.equal(outputs.get('go'), 'true');
    assert.equal(outputs.get('noise-run'), '');
  });
});

describe('the comment of a comparison', () => {
  it('goes from queued over running to the verdict, in one comment among more than a hundred', async () => {
    await using server = await startPullRequestServer();
    for (let index = 0; index < 120; index += 1)
      server.comments.add({ login: 'octocat', id: 583_231, type: 'User' }, `remark ${index}`);
    const own = () => /^## (.*)$/m.exec(server.comments.all[120]?.body ?? '')?.[1] ?? '';
    await command(server, '/apt-perf');
    const states = [own()];
    const block = (number: number, conclusion: string | null) => ({ name: `Block ${number}`, conclusion });
    const jobs = (...steps: object[]) => [
      { name: 'Build base', status: 'completed' },
      { name: 'Measure', status: steps.length === 3 ? 'completed' : 'in_progress', steps },
    ];
    const seen = [
      [{ name: 'Build base', status: 'in_progress' }],
      jobs(block(1, null)),
      jobs(block(1, 'success'), block(2, null)),
      jobs(block(1, 'success'), block(2, 'success'), block(3, 'success')),
    ];
    server.facts.jobs = seen.shift() ?? [];
    const clock = new TestClock();
    const sleep = clock.sleep.bind(clock);
    clock.sleep = async (ms) => {
      if (ms === 30_000) {
        states.push(own());
        server.facts.jobs = seen.shift() ?? [];
      }
      await sleep(ms);
    };
    const runner = runnerOf(server, {});
    await followStage(new StageInputs(runner), clock, runner);
    await report(server, sampleComparison([14, 15, 16, 15, 14, 16]));
    states.push(own());
    assert.deepEqual(
      states.map((state) => state.replace('apt-perf: ', '').split(':')[0]),
      ['queued', 'building both sides', 'running, 0 of 12 runs done', 'running, 4 of 12 runs done', 'slower'],
    );
    assert.match(own(), /slower: incremental \+15\.0 % \(95 % \+14\.0 % … \+16\.0 %\), noise band ±10\.0 %/);
    assert.equal(server.comments.all.length, 121);
  });

  it('counts the runs of the second look', () => {
    const steps = [1, 2, 3, 4].map((number) => ({ name: `Block ${number}`, conclusion: 'success' }));
    const state = progress([{ name: 'perf / Measure', status: 'in_progress', steps }]);
    assert.deepEqual(state, { state: 'running', runs: 16, of: 24 });
  });

  it('is superseded when somebody pushed meanwhile, or when a newer command cancelled the jobs', async () => {
    await using server = await startPullRequestServer();
    await report(server, sampleComparison([1, 1, 1, 1, 1, 1]), { 'measure-result': 'cancelled' });
    assert.equal(headline(server), 'apt-perf: superseded');
    server.facts.head = other;
    await report(server, sampleComparison([1, 1, 1, 1, 1, 1]));
    assert.equal(headline(server), 'apt-perf: superseded');
  });

  it('of an older run does not take the place of a newer one', async () => {
    await using server = await startPullRequestServer();
    await command(server, '/apt-perf', 'octocat', 101);
    const runner = await report(server, sampleComparison([14, 15, 16, 15, 14, 16]));
    assert.equal(headline(server), 'apt-perf: queued');
    assert.match(runner.told.join('\n'), /\(done\): outdated/);
  });

  it('says which part failed, and what to do', async () => {
    await using server = await startPullRequestServer();
    await report(server, '', { 'build-result': 'failure' });
    assert.equal(headline(server), 'apt-perf: failed (build)');
    await report(server, '', { 'measure-result': 'failure' });
    assert.equal(headline(server), 'apt-perf: failed (measure)');
    await report(server, '{"schema":"<img>"}');
    assert.equal(headline(server), 'apt-perf: failed (report)');
    assert.match(server.comments.all[0]?.body ?? '', /comment .*apt-perf.* again/i);
    assert.doesNotMatch(server.comments.all[0]?.body ?? '', /<img>/);
  });

  it('judges no measurements of another pairing or commit, and takes no verdict from them', async () => {
    await using server = await startPullRequestServer();
    await report(server, sampleComparison([1, 1, 1, 1, 1, 1], { pairing: 'pr8-1-1' }));
    assert.equal(headline(server), 'apt-perf: failed (report)');
    await report(server, sampleComparison([1, 1, 1, 1, 1, 1], { subject: { kind: 'commits', base, head: other } }));
    assert.equal(headline(server), 'apt-perf: failed (report)');
  });

  it('says what its numbers are worth: of a fork, and while the instrument is suspect', async () => {
    await using server = await startPullRequestServer();
    const noise = join(folder.path, 'noise.json');
    await writeFile(noise, JSON.stringify({ schema: 'apt-publish/noise/1', instrument: 'suspect', sessions: [] }));
    await report(server, sampleComparison([14, 15, 16, 15, 14, 16]), { fork: 'true', noise });
    const body = server.comments.all[0]?.body ?? '';
    assert.match(body, /- Instrument suspect: /);
    assert.match(body, /- The head comes from a fork/);
  });

  it('that may not be written fails nothing: the verdict is in the job summary', async () => {
    await using server = await startPullRequestServer();
    const runner = await report(server, sampleComparison([14, 15, 16, 15, 14, 16]), { 'github-token': 'fork-token' });
    assert.equal(server.comments.all.length, 0);
    assert.equal(runner.code(), undefined);
    assert.equal(runner.outputs.get('verdict'), 'slower');
    assert.match(runner.told.join('\n'), /no comment on pull request 7/);
  });
});
