/**
 * One pseudonym on a thread, by its identity hash (contract, 2.2 to 2.4 and 3.1): its karma, the reports about it, and
 * its comments, which it posts itself, one at a time.
 */
import { DurableObject } from 'cloudflare:workers';
import type { Env } from '../env.ts';
import { type Standing, reported, standingOf } from '../identity/moderation.ts';
import { SqlModeration } from './identity/sql-moderation.ts';

export interface CommentRequest {
  readonly owner: string;
  readonly repo: string;
  readonly number: number;
  readonly hash: string;
  /** The caller's own words. */
  readonly body: string;
  /** Scheme and host for the footer's link, such as `https://veil.example`. */
  readonly origin: string;
}

export type CommentOutcome =
  | { readonly kind: 'posted'; readonly url: string; readonly karma: number }
  | { readonly kind: 'blocked' }
  | { readonly kind: 'cooldown' };

export interface ReportOutcome {
  /** False: this address has reported the hash within the last 30 days. */
  readonly accepted: boolean;
  readonly standing: Standing;
}

export class Identity extends DurableObject<Env> {
  readonly #moderation: SqlModeration;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#moderation = new SqlModeration(ctx.storage.sql);
  }

  standing(): Standing {
    return standingOf(this.#moderation.read(), Date.now());
  }

  /** @param reporterKey `keyedHash(secret, 'address', network)` of the one who reports. */
  report(reporterKey: string): ReportOutcome {
    const now = Date.now();
    const { accepted, facts } = reported(this.#moderation.read(), reporterKey, now);
    if (accepted) this.#moderation.write(facts);
    return { accepted, standing: standingOf(facts, now) };
  }
}
