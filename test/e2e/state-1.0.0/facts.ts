/** Facts that the people in the state know, and what it must still be good for: facts.json. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Opened extends Cut {
  readonly prKey: string;
  readonly number: number;
}

/** A push without an answer. @property prHash of the branch that it has left at the host. */
export interface Cut {
  readonly branch: string;
  readonly prHash: string;
}

export interface Pseudonym {
  readonly token: string;
  readonly hash: string;
  /** After its last comment. */
  readonly karma: number;
}

export interface CommentAnswer {
  readonly comment_url: string;
  readonly hash: string;
  readonly karma: number;
  readonly user_token: string;
}

export interface Facts {
  /** When the service was killed. */
  readonly savedAt: string;
  readonly botLogin: string;
  readonly botToken: string;
  readonly panicPassword: string;
  readonly adminTopic: string;
  readonly hostPort: number;
  /** Pull requests in the statistics. */
  readonly totalPrs: number;
  readonly updated: Opened;
  readonly withdrawn: Opened;
  /** @property name of its page. @property page its first lines. */
  readonly waiting: { readonly name: string; readonly branch: string; readonly page: readonly string[] };
  /** Before and after its pull request was open. */
  readonly cutBefore: Cut;
  readonly cutAfter: Cut;
  readonly author: Pseudonym;
  readonly flagged: Pseudonym;
  readonly blocked: Pseudonym;
  /** A comment that was sent with an Idempotency-Key, and its answer. */
  readonly once: { readonly key: string; readonly body: string; readonly answer: CommentAnswer };
  /** The buttons of an alert: the one that has activated panic, and the one that deactivates it. */
  readonly usedToken: string;
  readonly unusedToken: string;
}

export const facts = JSON.parse(readFileSync(join(import.meta.dirname, 'facts.json'), 'utf8')) as Facts;
