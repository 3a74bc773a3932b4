/**
 * Tokens that an alert's buttons hold in place of the password (contract, 2.9). Each is valid for
 * one action, once, within ten minutes. Only hashes are stored.
 * Proved by test/durable/guard/guard.test.ts.
 */
import { createHash, randomBytes } from 'node:crypto';
import { Recent } from '../../isolate/recent.ts';
import type { Action } from '../../notify/alert.ts';

const TOKEN_LIFE_MS = 10 * 60 * 1000;
const TOKEN_BYTES = 16;

/**
 * Hashes of tokens that are used up in memory only. If the process ends before the disk takes the
 * switch that they set, that switch is lost as well.
 */
const usedUnstored = new Recent<true>({ most: 10_000 });

export function tokenHash(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

export class ActionTokens {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    sql.exec(`CREATE TABLE IF NOT EXISTS tokens (
      hash TEXT PRIMARY KEY, action TEXT NOT NULL, expires_at INTEGER NOT NULL, is_used INTEGER NOT NULL DEFAULT 0
    ) WITHOUT ROWID`);
  }

  /** Makes a token for each action: 32 lower-case hex characters. Cost: a row for each. */
  make(actions: readonly Action[], now: number): ReadonlyMap<Action, string> {
    const tokens = new Map(actions.map((action) => [action, randomBytes(TOKEN_BYTES).toString('hex')]));
    const insert = 'INSERT INTO tokens (hash, action, expires_at) VALUES (?, ?, ?)';
    for (const [action, token] of tokens)
      this.#sql.exec(insert, tokenHash(token), action, now + TOKEN_LIFE_MS);
    return tokens;
  }

  /**
   * Uses up a token; answers false if it is not valid. One that would be valid for longer than ten
   * minutes, because a clock was set back, is not.
   */
  use(hash: string, action: Action, now: number): boolean {
    const use = `UPDATE tokens SET is_used = 1 WHERE hash = ?1 AND action = ?2 AND is_used = 0
      AND expires_at > ?3 AND expires_at <= ?3 + ?4`;
    return this.#sql.exec(use, hash, action, now, TOKEN_LIFE_MS).rowsWritten > 0;
  }

  /** Uses up a token in memory, without the disk. `use` may follow, which stores it. */
  useUnstored(hash: string, action: Action, now: number): boolean {
    const valid = `SELECT 1 FROM tokens WHERE hash = ?1 AND action = ?2 AND is_used = 0
      AND expires_at > ?3 AND expires_at <= ?3 + ?4`;
    const isValid = this.#sql.exec(valid, hash, action, now, TOKEN_LIFE_MS).toArray().length > 0;
    if (!isValid || usedUnstored.get(hash) !== null) return false;
    usedUnstored.set(hash, true);
    return true;
  }

  /** Makes a used token valid again until it expires. */
  giveBack(hash: string): void {
    this.#sql.exec('UPDATE tokens SET is_used = 0 WHERE hash = ?', hash);
  }

  /** Deletes expired tokens. Answers when the next one expires; null if there is none. */
  forgetOld(now: number): number | null {
    this.#sql.exec('DELETE FROM tokens WHERE expires_at <= ?', now);
    return this.#sql.exec<{ at: number | null }>('SELECT min(expires_at) AS at FROM tokens').one().at;
  }
}
