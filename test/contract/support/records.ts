/** Records of the stand-in host, and the questions that it is asked. */

export const BOT = 'contract-bot';
export const BOT_TOKEN = 'token-of-the-bot';

/** A request that has come. */
export interface Recorded {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
}

export interface RestAnswer {
  readonly status: number;
  readonly json?: unknown;
  readonly text?: string;
  readonly bytes?: Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Repository {
  readonly owner: string;
  readonly name: string;
  readonly path: string;
  readonly branch: string;
  readonly parent: Repository | null;
  sizeKb: number;
  /** Issues and pull requests, in order of their numbers. */
  readonly threads: Thread[];
}

export interface Thread {
  readonly number: number;
  title: string;
  body: string;
  readonly labels: readonly string[];
  state: 'open' | 'closed';
  updatedAt: string;
  readonly comments: Comment[];
  /** The pull request; null: this is an issue. */
  readonly pull: Pull | null;
}

export interface Comment {
  readonly id: number;
  body: string;
  readonly by: string;
  readonly at: string;
}

export interface Pull {
  /** Branch of the bot's fork. */
  readonly head: string;
  base: string;
  isMerged: boolean;
}

/** The part of the host that the REST interface needs. */
export interface Repositories {
  readonly url: string;
  readonly repositories: ReadonlyMap<string, Repository>;
  fork(parent: Repository): Promise<Repository>;
}

/** Changes a thread as a maintainer does. */
export function touch(thread: Thread, change: Partial<Pick<Thread, 'state' | 'title' | 'body'>>): void {
  Object.assign(thread, change, { updatedAt: timestamp() });
}

/** To the second, as GitHub writes it. */
export function timestamp(): string {
  return `${new Date().toISOString().slice(0, 19)}Z`;
}
