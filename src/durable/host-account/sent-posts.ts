/**
 * The forms and requests that were to post an issue or a comment at the account's code host, so that each posts once:
 * one that is sent again, by a double click, by reloading the page, or by a program that got no answer, gets the answer
 * of the first time.
 *
 * A post is stored before the host is asked. So one that was sent before a restart is known after it, but not whether
 * its answer was lost. Cost: two writes for each; a row lasts for a day, as long as a form is valid.
 */
import { FORM_LIFE_MS } from '../../secret/form-token.ts';
import { isAhead } from '../../limits/sliding-window.ts';

/** Longer than posting usually takes. One that is silent for longer has died with its request. */
const SENDING_MS = 60_000;

/** Keyed hashes: nothing of what was written can be found out from them. */
export interface PostName {
  /** Of the form, or of the request's key. */
  readonly name: string;
  /** Of what it posts. */
  readonly content: string;
}

/** What was posted. */
export interface Posted {
  readonly url: string;
  /** Of the thread. */
  readonly number: number;
  /** Of the author on that thread, after it. */
  readonly karma: number;
}

export type PostStanding =
  /** It was not sent before: whoever asks may post it now. */
  | { readonly kind: 'new' }
  /** Another request is posting it. */
  | { readonly kind: 'sending' }
  | { readonly kind: 'posted'; readonly posted: Posted }
  /** It was sent, and nobody knows whether the host has posted it. */
  | { readonly kind: 'unknown' }
  /** Something else was sent under this name. */
  | { readonly kind: 'other' };

export type PostResult = Extract<PostStanding, { kind: 'new' | 'posted' | 'unknown' }>;

interface PostRow extends Record<string, SqlStorageValue> {
  content: string;
  sending_until: number;
  url: string | null;
  number: number | null;
  karma: number | null;
}

export class SentPosts {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    sql.exec(`CREATE TABLE IF NOT EXISTS sent_posts (
      name TEXT PRIMARY KEY, content TEXT NOT NULL, until INTEGER NOT NULL, sending_until INTEGER NOT NULL,
      url TEXT, number INTEGER, karma INTEGER
    ) WITHOUT ROWID`);
    sql.exec('CREATE INDEX IF NOT EXISTS sent_posts_until ON sent_posts (until)');
    // Of earlier versions. A form that is sent again across the update posts twice.
    sql.exec('DROP TABLE IF EXISTS sent_forms');
  }

  /** @param now milliseconds since 1970. */
  begin({ name, content }: PostName, now: number): PostStanding {
    const [row] = this.#sql.exec<PostRow>(
      'SELECT content, sending_until, url, number, karma FROM sent_posts WHERE name = ?',
      name,
    );
    if (row === undefined) {
      const [until, sendingUntil] = [now + FORM_LIFE_MS, now + SENDING_MS];
      const insert = 'INSERT INTO sent_posts VALUES (?, ?, ?, ?, NULL, NULL, NULL)';
      this.#sql.exec(insert, name, content, until, sendingUntil);
      return { kind: 'new' };
    }
    if (row.content !== content) return { kind: 'other' };
    const { sending_until: sendingUntil, url, number, karma } = row;
    if (url !== null && number !== null && karma !== null)
      return { kind: 'posted', posted: { url, number, karma } };
    // After a clock was set back, nobody waits for longer either.
    return { kind: isAhead(sendingUntil, SENDING_MS, now) ? 'sending' : 'unknown' };
  }

  /** @param result `new`: nothing was posted, and it may be sent again. */
  end(name: string, result: PostResult): void {
    if (result.kind === 'new') {
      this.#sql.exec('DELETE FROM sent_posts WHERE name = ?', name);
      return;
    }
    const { url, number, karma } =
      result.kind === 'posted' ? result.posted : { url: null, number: null, karma: null };
    const end = 'UPDATE sent_posts SET sending_until = 0, url = ?, number = ?, karma = ? WHERE name = ?';
    this.#sql.exec(end, url, number, karma, name);
  }

  /** Answers whether some are left. */
  forgetOld(now: number): boolean {
    this.#sql.exec('DELETE FROM sent_posts WHERE until <= ?', now);
    return this.#sql.exec('SELECT 1 FROM sent_posts LIMIT 1').toArray().length > 0;
  }
}
