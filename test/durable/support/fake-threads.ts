/**
 * GitHub's comments and issues, as far as the service writes and reads them, in place of `fetch`.
 */
import { vi } from 'vitest';
import { HttpClient } from '../../../src/outgoing/http-client.ts';

const HOST = 'https://host.test';
export const BOT_ID = 7;

interface FakeComment {
  readonly id: number;
  readonly thread: string;
  body: string;
  readonly userId: number;
  readonly createdAt: number;
}

export interface FakeRequest {
  readonly method: string;
  /** Without the base of the interface. */
  readonly path: string;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
}

type Disturbance = Response | undefined;

export class FakeThreads {
  readonly comments: FakeComment[] = [];
  /** The fields that each new issue was made of. */
  readonly issues: Record<string, unknown>[] = [];
  readonly requests: FakeRequest[] = [];
  /** Before a request is handled; what it answers is the answer. */
  disturb: (request: FakeRequest) => Disturbance | Promise<Disturbance> = () => undefined;
  /** After it was handled: the answer in place of the true one. */
  loseAnswer: (request: FakeRequest) => Disturbance | Promise<Disturbance> = () => undefined;
  #lastId = 0;

  constructor() {
    vi.spyOn(HttpClient.prototype, 'fetch').mockImplementation(async (input, init) => {
      const { pathname } = new URL(input as string);
      const request = {
        method: init?.method ?? 'GET',
        path: pathname.replace(/^\/api\/v3/, ''),
        headers: new Headers(init?.headers),
        body: typeof init?.body === 'string' ? (JSON.parse(init.body) as Record<string, unknown>) : {},
      };
      this.requests.push(request);
      const disturbed = await this.disturb(request);
      if (disturbed !== undefined) return disturbed;
      const answer = this.#answer(request);
      return (await this.loseAnswer(request)) ?? answer;
    });
  }

  /** The texts of all comments of a thread, oldest first. */
  textsOn(thread: string): string[] {
    return this.comments.filter((comment) => comment.thread === thread).map(({ body }) => body);
  }

  /** The requests of the service, as `METHOD path`. */
  get asked(): string[] {
    return this.requests.map(({ method, path }) => `${method} ${path}`);
  }

  /** A comment that was not made by the service. */
  say(thread: string, body: string, userId = BOT_ID): FakeComment {
    const comment = { id: ++this.#lastId, thread, body, userId, createdAt: Date.now() };
    this.comments.push(comment);
    return comment;
  }

  remove(id: number): void {
    this.comments.splice(
      this.comments.findIndex((comment) => comment.id === id),
      1,
    );
  }

  #answer({ method, path, body }: FakeRequest): Response {
    if (path === '/user') return Response.json({ id: BOT_ID, login: 'veil-bot' });
    const [, repository, id] = /^\/repos\/([^/]+\/[^/]+)\/issues\/comments\/(\d+)$/.exec(path) ?? [];
    if (repository !== undefined) {
      const comment = this.comments.find((candidate) => candidate.id === Number(id));
      if (comment === undefined) return Response.json({ message: 'Not Found' }, { status: 404 });
      if (method === 'DELETE') {
        this.remove(comment.id);
        return new Response(null, { status: 204 });
      }
      if (method === 'PATCH') comment.body = body['body'] as string;
      return Response.json(this.#render(comment));
    }
    const [, owner, name, place] = /^\/repos\/([^/]+)\/([^/]+)(\/issues)?$/.exec(path) ?? [];
    if (place !== undefined) {
      this.issues.push(body);
      const number = this.issues.length;
      return Response.json(
        { number, html_url: `${HOST}/${owner}/${name}/issues/${number}` },
        { status: 201 },
      );
    }
    // Repositories are public, and without a policy file.
    if (owner !== undefined) {
      const facts = { id: 1, private: false, archived: false, size: 1 };
      return Response.json({ ...facts, owner: { login: owner }, name });
    }
    const number = /^\/repos\/[^/]+\/[^/]+\/issues\/(\d+)$/.exec(path)?.[1];
    if (number !== undefined && method === 'GET') {
      const issue = { title: 'An issue', state: 'open', locked: false, body: null };
      return Response.json({ ...issue, number: Number(number), created_at: '2026-11-23T10:00:00Z' });
    }
    const [, thread] = /^\/repos\/([^/]+\/[^/]+\/issues\/\d+)\/comments$/.exec(path) ?? [];
    if (thread === undefined) return Response.json({ message: 'Not Found' }, { status: 404 });
    if (method === 'GET') {
      return Response.json(
        this.comments.filter((comment) => comment.thread === thread).map((comment) => this.#render(comment)),
      );
    }
    return Response.json(this.#render(this.say(thread, body['body'] as string)), { status: 201 });
  }

  #render({ id, body, thread, userId }: FakeComment): unknown {
    return { id, body, html_url: `${HOST}/${thread}#issuecomment-${id}`, user: { id: userId } };
  }
}
