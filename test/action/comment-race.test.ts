import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readMark } from '../../src/action/comment-mark.ts';
import { type CommentThread, keepOneComment, type ThreadComment } from '../../src/action/comment-sticky.ts';

/** A request that a run has sent: it takes effect, and is answered, when the schedule says so. */
interface Pending {
  readonly run: number;
  readonly name: string;
  readonly takeEffect: () => void;
}

interface Outcome {
  readonly comments: readonly ThreadComment[];
  /** What happened, in order: `101 list`, `100 update to 101` … */
  readonly history: readonly string[];
  /** How many runs had a request waiting at each step: the choices there were. */
  readonly choices: readonly number[];
}

const key = '0123456789abcdef';

/** Lets two runs loose on a thread. At each step the schedule says whose request takes effect; where it ends, the first one's does. */
async function race(runs: readonly [number, number], schedule: readonly number[]): Promise<Outcome> {
  const comments: ThreadComment[] = [];
  const waiting: Pending[] = [];
  const history: string[] = [];
  const choices: number[] = [];
  let ids = 0;
  const thread = (run: number): CommentThread => {
    const request = <T>(name: string, effect: () => T) =>
      new Promise<T>((resolve) => waiting.push({ run, name, takeEffect: () => resolve(effect()) }));
    return {
      author: () => Promise.resolve('bot'),
      list: () => request('list', () => [...comments]),
      create: (body) =>
        request('create', () => {
          ids += 1;
          const made = { id: ids, author: 'bot', body };
          comments.push(made);
          return made;
        }),
      update: (id, body) =>
        request(`update to ${readMark(body)?.run.id}`, () => {
          const at = comments.findIndex((comment) => comment.id === id);
          if (at !== -1) comments[at] = { id, author: 'bot', body };
          return at !== -1;
        }),
      remove: (id) =>
        request('remove', () => {
          const at = comments.findIndex((comment) => comment.id === id);
          if (at !== -1) comments.splice(at, 1);
        }),
    };
  };
  const mark = (id: number) => ({ key, run: { id, attempt: 1 } });
  let ended = 0;
  const all = runs.map((run, job) => keepOneComment(thread(run), mark(run), `job ${job}`).finally(() => (ended += 1)));
  while (ended < runs.length) {
    await new Promise(setImmediate);
    if (waiting.length === 0) continue;
    waiting.sort((a, b) => a.run - b.run);
    const [chosen] = waiting.splice(schedule[choices.length] ?? 0, 1);
    choices.push(waiting.length + 1);
    assert.ok(chosen);
    history.push(`${chosen.run} ${chosen.name}`);
    chosen.takeEffect();
  }
  await Promise.all(all);
  return { comments, history, choices };
}

/** Every schedule there is: from each outcome on, the last choice that had another way out is taken the other way. */
async function everyRace(runs: readonly [number, number]): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  let schedule: number[] | undefined = [];
  while (schedule !== undefined) {
    const outcome: Outcome = await race(runs, schedule);
    outcomes.push(outcome);
    const taken = outcome.choices.map((_, step) => schedule?.[step] ?? 0);
    const turn = taken.findLastIndex((choice, step) => choice + 1 < (outcome.choices[step] ?? 0));
    schedule = turn === -1 ? undefined : [...taken.slice(0, turn), (taken[turn] ?? 0) + 1];
  }
  return outcomes;
}

describe('of two runs that race, whatever the order of their requests,', () => {
  it('one comment is left, by the newer run unless the older one slept from its look to the newer one’s end', async () => {
    const outcomes = await everyRace([100, 101]);
    assert.ok(outcomes.length > 50, `only ${outcomes.length} orders`);
    for (const { comments, history } of outcomes) {
      assert.equal(comments.length, 1, history.join(', '));
      const shown = readMark(comments[0]?.body ?? '')?.run.id;
      const lastOfNewer = history.findLastIndex((step) => step.startsWith('101'));
      const slept = history.includes('100 update to 100', lastOfNewer);
      assert.equal(shown, slept ? 100 : 101, history.join(', '));
    }
    assert.ok(
      outcomes.filter(({ comments }) => readMark(comments[0]?.body ?? '')?.run.id === 101).length > outcomes.length / 2,
    );
  });

  it('jobs that share a run and a key do not overwrite each other for ever', async () => {
    for (const { comments, history } of await everyRace([100, 100])) {
      assert.equal(comments.length, 1, history.join(', '));
      assert.ok(history.length < 16, history.join(', '));
    }
  });
});
