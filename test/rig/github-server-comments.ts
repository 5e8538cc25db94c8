/** Somebody who writes comments. */
export interface Account {
  readonly login: string;
  readonly id: number;
  readonly type: 'Bot' | 'User';
}

export interface Comment {
  readonly id: number;
  readonly author: Account;
  readonly body: string;
  readonly created: string;
  readonly updated: string;
}

/** Whose comments those of a workflow's own token are. */
export const workflowBot: Account = { login: 'github-actions[bot]', id: 41_898_282, type: 'Bot' };

/** The comments of one pull request, oldest first. Time passes by a second a change. */
export class Comments {
  readonly all: Comment[] = [];
  #changes = 0;
  #before: readonly Comment[] = [];

  add(author: Account, body: string): Comment {
    this.#before = [...this.all];
    const now = this.#tick();
    const comment = { id: 1_000_000 + this.#changes, author, body, created: now, updated: now };
    this.all.push(comment);
    return comment;
  }

  /** Undefined when there is no such comment. */
  edit(id: number, body: string): Comment | undefined {
    const at = this.all.findIndex((comment) => comment.id === id);
    const old = this.all[at];
    if (old === undefined) return undefined;
    this.#before = [...this.all];
    const edited = { ...old, body, updated: this.#tick() };
    this.all[at] = edited;
    return edited;
  }

  /** False when there is no such comment. */
  remove(id: number): boolean {
    const at = this.all.findIndex((comment) => comment.id === id);
    if (at === -1) return false;
    this.#before = [...this.all];
    this.all.splice(at, 1);
    return true;
  }

  /** As they were before the last change. */
  before(): readonly Comment[] {
    return this.#before;
  }

  #tick(): string {
    this.#changes += 1;
    return new Date(Date.UTC(2026, 0, 1) + this.#changes * 1000).toISOString().replace('.000Z', 'Z');
  }
}

/** A comment as GitHub shows it. */
export function issueComment(comment: Comment, api: string, issue: string): object {
  const { id, author, body, created, updated } = comment;
  const account = `${api}/users/${encodeURIComponent(author.login)}`;
  return {
    id,
    node_id: `IC_${id}`,
    url: `${api}${issue.replace(/\/\d+$/, '')}/comments/${id}`,
    html_url: `https://github.com${issue.replace('/repos', '').replace('/issues/', '/pull/')}#issuecomment-${id}`,
    issue_url: `${api}${issue}`,
    body,
    user: {
      login: author.login,
      id: author.id,
      node_id: `U_${author.id}`,
      avatar_url: `https://avatars.githubusercontent.com/u/${author.id}`,
      gravatar_id: '',
      url: account,
      html_url: `https://github.com/${author.login.replace('[bot]', '')}`,
      followers_url: `${account}/followers`,
      following_url: `${account}/following{/other_user}`,
      gists_url: `${account}/gists{/gist_id}`,
      starred_url: `${account}/starred{/owner}{/repo}`,
      subscriptions_url: `${account}/subscriptions`,
      organizations_url: `${account}/orgs`,
      repos_url: `${account}/repos`,
      events_url: `${account}/events{/privacy}`,
      received_events_url: `${account}/received_events`,
      type: author.type,
      site_admin: false,
    },
    created_at: created,
    updated_at: updated,
    author_association: 'NONE',
    performed_via_github_app: null,
  };
}
