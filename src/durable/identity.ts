/**
 * One pseudonym on a thread, by its identity hash (contract, 2.2 to 2.5 and 3.1): its karma, the reports about it, and
 * its comments.
 *
 * It posts the comments itself, one at a time, so that karma is exact. Reports are taken in meanwhile; what they lead
 * to (footers to edit, comments to delete) is written down at once and done from the alarm, until the host has done it.
 */
import { DurableObject } from 'cloudflare:workers';
import { systemClock } from '../clock.ts';
import { type Config, parseConfig } from '../config.ts';
import type { Env } from '../env.ts';
import { GitHubThreads } from '../host/github-threads.ts';
import { shownKarma } from '../identity/footer.ts';
import { REPORT_LIFE_MS, type Standing, pruned, reported, standingOf } from '../identity/moderation.ts';
import { openLedger } from '../stats/open-ledger.ts';
import { doChores } from './identity/chores.ts';
import { Karma } from './identity/karma.ts';
import { OneAtATime } from './identity/one-at-a-time.ts';
import { type CommentOutcome, type CommentRequest, postComment } from './identity/post-comment.ts';
import { SqlComments } from './identity/sql-comments.ts';
import { SqlModeration } from './identity/sql-moderation.ts';

export type { CommentOutcome, CommentRequest } from './identity/post-comment.ts';

/** More than that at once, or a longer wait than that, is not worth waiting for. */
const MAX_QUEUE = 100;
const LONGEST_WAIT_MS = 30_000;

export interface ReportOutcome {
  /** False: this address has reported the hash within the last 30 days. */
  readonly accepted: boolean;
  readonly standing: Standing;
}

export class Identity extends DurableObject<Env> {
  readonly #moderation: SqlModeration;
  readonly #comments: SqlComments;
  readonly #karma: Karma;
  readonly #posts = new OneAtATime();
  readonly #hash: string;
  /** The attempt that is being made; all others ended without an answer. */
  #currentAttempt: number | null = null;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const { sql } = ctx.storage;
    this.#hash = ctx.id.name ?? '';
    this.#moderation = new SqlModeration(sql);
    this.#comments = new SqlComments(sql);
    this.#karma = new Karma(sql, this.#hash, () => openLedger(env, this.#config()));
  }

  standing(): Standing {
    return standingOf(this.#moderation.read(), systemClock.now());
  }

  /** @param reporterKey `keyedHash(secret, 'address', network)` of the one who reports. */
  async report(reporterKey: string): Promise<ReportOutcome> {
    const now = systemClock.now();
    const { accepted, facts, effect } = reported(this.#moderation.read(), reporterKey, now);
    if (accepted) {
      this.#moderation.write(facts);
      if (effect !== 'none') {
        this.#karma.reset(now);
        this.#comments.order(effect === 'flag' ? 'reset' : 'delete', now);
      }
      await this.#schedule();
    }
    return { accepted, standing: standingOf(facts, now) };
  }

  /** Posts a comment when those before it are through. Never rejects for what the host does. */
  async comment(request: CommentRequest): Promise<CommentOutcome> {
    const askedAt = systemClock.now();
    if (this.#posts.length >= MAX_QUEUE) return { kind: 'busy' };
    return this.#posts.run(async () => {
      if (systemClock.now() - askedAt > LONGEST_WAIT_MS) return { kind: 'busy' };
      return postComment(
        {
          moderation: this.#moderation,
          comments: this.#comments,
          karma: this.#karma,
          host: this.#host(),
          clock: systemClock,
          hash: this.#hash,
          schedule: () => this.#schedule(),
          attempting: (id) => {
            this.#currentAttempt = id;
          },
        },
        request,
      );
    });
  }

  override async alarm(): Promise<void> {
    const now = systemClock.now();
    const attempts = this.#comments.dueAttempts(now).filter(({ id }) => id !== this.#currentAttempt);
    await doChores(
      { comments: this.#comments, host: this.#host(), clock: systemClock, hash: this.#hash },
      attempts,
      (attempt, { id, text }) => {
        const chore = this.#comments.settle(attempt, id, now);
        // The next comment's karma must be higher than any that is shown.
        if (chore === null) this.#karma.raise(shownKarma(text, this.#hash) ?? 0, now);
      },
    );
    await this.#karma.deliver(now);
    const facts = this.#moderation.read();
    if (pruned(facts, now).reports.length < facts.reports.length) this.#moderation.write(pruned(facts, now));
    await this.#schedule();
  }

  /** Sets the alarm to when something is due next. */
  async #schedule(): Promise<void> {
    const [oldest] = this.#moderation.read().reports;
    const dueAts = [
      this.#comments.nextDueAt(),
      this.#karma.nextDueAt(),
      oldest === undefined ? null : oldest.at + REPORT_LIFE_MS + 1,
    ].filter((at) => at !== null);
    if (dueAts.length === 0) return this.ctx.storage.deleteAlarm();
    const dueAt = Math.min(...dueAts);
    if ((await this.ctx.storage.getAlarm()) !== dueAt) await this.ctx.storage.setAlarm(dueAt);
  }

  /** With a bad configuration nothing of this is reached by a request; an alarm ends, and the platform runs it again. */
  #config(): Config {
    const result = parseConfig({ ...this.env });
    if (result.kind === 'invalid') throw new Error('the configuration is invalid');
    return result.config;
  }

  #host(): GitHubThreads {
    const { hostingApiUrl, hostingToken } = this.#config();
    return new GitHubThreads({ apiUrl: hostingApiUrl, token: hostingToken ?? '', clock: systemClock });
  }
}
