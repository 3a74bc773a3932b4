/**
 * GitHub's notifications and pull requests, as far as the service reads them, in place of `fetch`;
 * and the notification service, which keeps what is published.
 */
import { vi } from 'vitest';
import { HttpClient } from '../../../src/outgoing/http-client.ts';

export const BOT = 'veil-bot';
const HOST = 'https://host.test';
export const API = `${HOST}/api`;

const COMMENTS_A_PAGE = 100;
const REPOSITORY = {
  id: 7,
  name: 'hello',
  owner: { login: 'octo' },
  private: false,
  archived: false,
  size: 1,
};

interface FakePull {
  readonly number: number;
  branch: string;
  author: string;
  reason: string;
  /** GitHub's word in the feed. */
  type: 'PullRequest' | 'Issue';
  updatedAt: number;
  mergedAt: string | null;
  closedAt: string | null;
  readonly comments: FakeRemark[];
  readonly reviews: FakeRemark[];
}

interface FakeRemark {
  readonly id: number;
  readonly author: string;
  readonly text?: string;
  /** GitHub's word for the author. */
  readonly association?: string;
  /** Whether a program has written it: its own account, or an app in the name of a person. */
  readonly program?: 'bot' | 'app';
  /** Milliseconds since 1970; if left out: when the pull request was last touched. */
  readonly at?: number;
}

export class FakeActivity {
  readonly pulls: FakePull[] = [];
  /** Every request to the host: path with query. */
  readonly requests: { method: string; path: string; headers: Headers }[] = [];
  /** Topic and message of everything published. */
  readonly published: { topic: string; message: string }[] = [];
  /** Looked at before a request is answered; what it answers is the answer. */
  disturb: (path: string) => Promise<Response | undefined> | Response | undefined = () => undefined;
  pollInterval: string | null = null;
  pageSize = 50;

  constructor() {
    vi.spyOn(HttpClient.prototype, 'fetch').mockImplementation(async (input, init) =>
      this.#answer(input as string, init ?? {}),
    );
  }

  /** A pull request of the bot's that was touched long ago. */
  pull(number: number, branch: string): FakePull {
    const pull: FakePull = {
      number,
      branch,
      author: BOT,
      reason: 'mention',
      type: 'PullRequest',
      updatedAt: Date.now() - 60_000,
      mergedAt: null,
      closedAt: null,
      comments: [],
      reviews: [],
    };
    this.pulls.push(pull);
    return pull;
  }

  urlOf({ number }: FakePull): string {
    return `${HOST}/octo/hello/pull/${number}`;
  }

  async #answer(url: string, init: RequestInit): Promise<Response> {
    if (!url.startsWith(API)) {
      this.published.push(JSON.parse(init.body as string));
      return new Response(null);
    }
    const { pathname, searchParams, search } = new URL(url);
    const path = pathname.slice(new URL(API).pathname.length);
    const headers = new Headers(init.headers);
    this.requests.push({ method: init.method ?? 'GET', path: path + search, headers });
    const disturbed = await this.disturb(path);
    if (disturbed) return disturbed;
    if (path === '/user') return Response.json({ login: BOT, id: idOf(BOT) });
    if (path === `/users/${BOT}`) return Response.json({ login: BOT, id: idOf(BOT) });
    if (path === '/notifications') return this.#feed(searchParams, headers);
    if (path === '/repos/octo/hello') return Response.json(REPOSITORY);
    if (path.endsWith('/reactions')) return Response.json({ id: 1 }, { status: 201 });
    // Nobody remarks on lines here.
    if (/\/pulls\/\d+\/comments$/.test(path)) return Response.json([]);
    const [, number, list] = /^\/repos\/octo\/hello\/(?:pulls|issues)\/(\d+)(?:\/(\w+))?$/.exec(path) ?? [];
    const pull = this.pulls.find((candidate) => candidate.number === Number(number));
    if (pull === undefined) return Response.json({ message: 'Not Found' }, { status: 404 });
    const shown = this.#render(pull, list, Date.parse(searchParams.get('since') ?? ''));
    if (list !== 'comments' || !Array.isArray(shown)) return Response.json(shown);
    const page = Number(searchParams.get('page') ?? 1);
    const next = `<${API}${path}?page=${page + 1}>; rel="next"`;
    const more = page * COMMENTS_A_PAGE < shown.length ? { link: next } : {};
    const onPage = shown.slice((page - 1) * COMMENTS_A_PAGE, page * COMMENTS_A_PAGE);
    return Response.json(onPage, { headers: more });
  }

  #feed(query: URLSearchParams, headers: Headers): Response {
    const since = Date.parse(query.get('since') ?? '');
    const page = Number(query.get('page') ?? 1);
    const newest = Math.max(0, ...this.pulls.map(({ updatedAt }) => updatedAt));
    const answerHeaders = new Headers({ 'last-modified': new Date(newest).toUTCString() });
    if (this.pollInterval !== null) answerHeaders.set('x-poll-interval', this.pollInterval);
    if (headers.get('if-modified-since') === answerHeaders.get('last-modified')) {
      return new Response(null, { status: 304, headers: answerHeaders });
    }
    const touched = this.pulls
      .filter(({ updatedAt }) => updatedAt >= since)
      .toSorted((a, b) => b.updatedAt - a.updatedAt);
    if (page * this.pageSize < touched.length) {
      answerHeaders.set('link', `<${API}/notifications?page=${page + 1}>; rel="next"`);
    }
    const shown = touched.slice((page - 1) * this.pageSize, page * this.pageSize);
    return Response.json(
      shown.map(({ number, updatedAt, reason, type }) => ({
        id: `thread-${number}`,
        reason,
        updated_at: `${new Date(updatedAt).toISOString().slice(0, 19)}Z`,
        subject: { type, url: `${API}/repos/octo/hello/pulls/${number}` },
        repository: { name: 'hello', owner: { login: 'octo' } },
      })),
      { headers: answerHeaders },
    );
  }

  /** As on the host, only comments can be asked for from a moment on. */
  #render(pull: FakePull, list: string | undefined, since: number): unknown {
    const url = this.urlOf(pull);
    const remarks =
      list === 'comments' ? pull.comments.filter(({ at = pull.updatedAt }) => !(at < since)) : pull.reviews;
    if (list !== undefined) {
      return remarks.map(({ id, author, association = 'NONE', text = '', at = pull.updatedAt, program }) => ({
        id,
        html_url: `${url}#${list}-${id}`,
        user: { login: author, id: idOf(author), type: program === 'bot' ? 'Bot' : 'User' },
        performed_via_github_app: program === 'app' ? { id: 1 } : null,
        body: text,
        author_association: association,
        created_at: new Date(at).toISOString(),
        updated_at: new Date(at).toISOString(),
        submitted_at: new Date(at).toISOString(),
      }));
    }
    return {
      number: pull.number,
      html_url: url,
      user: { login: pull.author, id: idOf(pull.author) },
      head: { ref: pull.branch },
      merged_at: pull.mergedAt,
      closed_at: pull.closedAt,
    };
  }
}

/** Accounts have numbers that differ as their names do. */
function idOf(login: string): number {
  return Array.from(login).reduce((id, character) => id * 31 + character.charCodeAt(0), 0);
}
