import { Problem } from '../problem.ts';
import { compareRuns, type Mark, markedBody, type RunNumber, readMark } from './comment-mark.ts';

/** A comment as far as its writer cares. */
export interface ThreadComment {
  /** Grows with every comment that is made. */
  readonly id: number;
  /** The login of whoever made it. */
  readonly author: string;
  readonly body: string;
}

/** The comments of one pull request. Every method throws whatever its request ended with, unless it says otherwise. */
export interface CommentThread {
  /** The login that comments made here carry as their author. */
  author(): Promise<string>;
  /** All comments, however many. */
  list(): Promise<readonly ThreadComment[]>;
  create(body: string): Promise<ThreadComment>;
  /** Gives a comment another body; false when it is there no longer. */
  update(id: number, body: string): Promise<boolean>;
  /** Removes a comment; one that is there no longer is removed already. */
  remove(id: number): Promise<void>;
}

/** What has become of a report: written; there already, word for word; left out, because the one of a newer run is there. */
export type Fate = 'written' | 'unchanged' | 'outdated';

/** A body and the run that it shows. */
interface Report {
  readonly run: RunNumber;
  readonly body: string;
}

/** A run alone looks twice; each run that races it may cost it another look. */
const mostLooks = 6;

/**
 * Sees to it that a thread holds exactly one comment of this author with this key, and that it shows the newest run. Of several the
 * oldest stays, since replies and links point to it; the newest report moves into it.
 *
 * GitHub has no conditional writes, so after each write the thread is looked at again, until there is nothing left to do: whichever of
 * two racing runs looks last leaves one comment with the newer report. What remains is an older run that is held up between look and
 * write for longer than a newer one needs to write and look: its report stays until the next run.
 *
 * Throws the `Problem` `comment-contended` when there is always something left to do.
 */
export async function keepOneComment(thread: CommentThread, mark: Mark, text: string): Promise<Fate> {
  const mine: Report = { run: mark.run, body: markedBody(mark, text) };
  const gone = new Set<number>();
  let created: ThreadComment | undefined;
  let wrote = false;
  let [author, comments] = await Promise.all([thread.author(), thread.list()]);
  for (let look = 1; look <= mostLooks; look += 1) {
    if (look > 1) comments = await thread.list();
    // A list may come from a copy of GitHub's database that lags behind: what was made is there, what was removed is not.
    const unlisted = created !== undefined && !comments.some(({ id }) => id === created?.id) ? [created] : [];
    const present = [...comments, ...unlisted].filter(({ id }) => !gone.has(id));
    const [oldest, ...others] = reportsOf(present, author, mark.key);
    if (oldest === undefined) {
      created = await thread.create(mine.body);
      // Should GitHub name this token's owner in two ways, the one in the thread is the one to look for.
      author = created.author;
      wrote = true;
      continue;
    }
    // Of two reports of one run mine is the later one, but only once: jobs that share a key would overwrite each other for ever.
    const best = newest(wrote ? [oldest, mine, ...others] : [mine, oldest, ...others]);
    if (best.body === oldest.body && others.length === 0) return fateOf(mine, oldest, wrote);
    if (best.body !== oldest.body) {
      if (!(await thread.update(oldest.id, best.body))) {
        gone.add(oldest.id);
        continue;
      }
      wrote ||= best === mine;
    }
    for (const { id } of others) {
      await thread.remove(id);
      gone.add(id);
    }
  }
  throw new Problem({
    code: 'comment-contended',
    title: 'The comment kept being changed by others',
    what: 'Each time the report was written, other runs or people had changed its comment again.',
    advice: 'Run the workflow once more when the other runs have ended.',
  });
}

/** The oldest first. */
function reportsOf(
  comments: readonly ThreadComment[],
  author: string,
  key: string,
): (Report & { readonly id: number })[] {
  return comments
    .flatMap((comment) => {
      const mark = comment.author === author ? readMark(comment.body) : undefined;
      return mark?.key === key ? [{ id: comment.id, body: comment.body, run: mark.run }] : [];
    })
    .sort((a, b) => a.id - b.id);
}

/** Of reports of one run, the first. */
function newest(reports: readonly [Report, ...Report[]]): Report {
  return reports.reduce((best, report) => (compareRuns(report.run, best.run) > 0 ? report : best));
}

function fateOf(mine: Report, shown: Report, wrote: boolean): Fate {
  if (wrote) return 'written';
  return compareRuns(shown.run, mine.run) > 0 ? 'outdated' : 'unchanged';
}
