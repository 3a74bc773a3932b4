/**
 * One pseudonym on a thread, by its identity hash (contract, 2.2 to 2.5 and 3.1): its karma, reports and comments.
 *
 * It posts the comments itself, one at a time, so that karma is exact, and takes reports meanwhile. What follows from them
 * (footers to edit, comments to delete) is stored at once, and the alarm retries it until the host has done it.
 */
import { DurableObject } from 'cloudflare:workers';
import { systemClock } from '../../isolate/clock.ts';
import { succeeds } from '../../isolate/within.ts';
import { MAIN_HOST } from '../../config/hosts.ts';
import type { Env } from '../../env.ts';
import type { PostedComment } from '../../host/code-host.ts';
import { openThreads } from '../../host/open.ts';
import { shownKarma } from '../../text/footer.ts';
import type { HttpClient } from '../../outgoing/http-client.ts';
import { openLedger } from '../../stats/statistics.ts';
import { listPseudonym, unlistPseudonym } from '../../stats/recorded-hashes.ts';
import type { Wants } from '../../limits/wants.ts';
import { type Grant, type Refused, reserve } from '../../limits/port.ts';
import { hit } from '../../limits/sliding-window.ts';
import { loggerOf } from '../../log.ts';
import { hostAccountOf, type Reached, reachHost } from '../host-access.ts';
import { doChores } from './chores.ts';
import type { Attempt, PostedOn, Thread } from './comments.ts';
import { feedNamed, guardOf } from '../../objects.ts';
import { feedName } from '../notification-feed/notification-feed.ts';
import { type Standing, UNREPORTED } from './moderation.ts';
import { type CommentOutcome, type CommentRequest, postComment } from './post-comment.ts';
import { hasRecords, type Pardon, Pseudonym } from './pseudonym.ts';

export type { Pardon } from './pseudonym.ts';
export type { CommentOutcome, CommentRequest } from './post-comment.ts';

/** Limits for waiting comments: how many, and how long. */
const MAX_QUEUE = 100;
const LONGEST_WAIT_MS = 30_000;
/** Until the configuration may be valid again. The platform retries a failing alarm only six times. */
const MISCONFIGURED_PAUSE_MS = 15 * 60_000;
/** How long to leave a list alone that does not answer. */
const LISTING_PAUSE_MS = 60_000;

/** Under which the key of the code host is stored. */
const HOST_KEY = 'host';
/** Under which the time of the first comment is stored. */
const PART_KEY = 'first comment';
/** Whose first comment is so old did not come with a flood of this hour. */
const PART_AGE_MS = 60 * 60_000;
/** How often they come before others: one token must not carry a whole flood. */
const PART_LIMITS = [{ most: 10, withinMs: PART_AGE_MS }];

/** The address of a comment says whether it is on an issue or on a pull request. */
const PULL_REQUEST_COMMENT_PATTERN = /\/pulls?\/\d+#/;

export type AppealOutcome =
  | { readonly kind: 'taken'; readonly standing: Standing }
  /** There is nothing to appeal against. */
  | { readonly kind: 'registered' }
  | { readonly kind: 'too-often'; readonly leftMs: number }
  /** The operator cannot be told now. */
  | { readonly kind: 'busy' };

/** What its page shows: all of it is public, at the code host or in its comments' footers. */
export interface PublicRecord {
  readonly standing: Standing;
  /** The key of the code host. */
  readonly host: string;
  /** The newest first. */
  readonly posted: readonly PostedOn[];
}

export class Identity extends DurableObject<Env> {
  /** Comments are posted in the order of the calls, never two at once. This settles with the last one. */
  #lastPost: Promise<unknown> = Promise.resolve();
  /** How many are waiting or being posted. */
  #posts = 0;
  #opened: Pseudonym | null = null;
  /** When the alarm goes off, if that is known here. */
  #alarmAt: number | null = null;
  #asPart: readonly number[] = [];
  #http: HttpClient | null = null;
  /** Whether the list of pseudonyms has this one, as far as that is known here. */
  #isListed = false;

  publicRecord(): PublicRecord {
    const standing = this.#known?.standing(systemClock.now()) ?? UNREPORTED;
    return { standing, host: this.#hostKey, posted: this.#known?.comments.newest() ?? [] };
  }

  /**
   * Does not say whether the report counts: that would tell everybody who shares the address that somebody there has
   * reported this pseudonym. @param reporter keyed hash of the network. @param site of the /48 around it. Both are made for
   * this pseudonym only.
   */
  async report(reporter: string, site: string): Promise<Standing> {
    const isListed = await this.#list(this.#pseudonym().hash);
    // Meanwhile the alarm may have deleted everything.
    const pseudonym = this.#pseudonym();
    const now = systemClock.now();
    const standing = pseudonym.report({ reporter, site }, now);
    await this.#wakeBy(isListed ? pseudonym.nextDueAt() : now + LISTING_PAUSE_MS);
    return standing;
  }

  /** The operator has decided that the reports were wrong. Null: nobody has ever reported this pseudonym. */
  async pardon(): Promise<Pardon | null> {
    const pseudonym = this.#known;
    if (pseudonym === null) return null;
    const outcome = pseudonym.pardon(systemClock.now());
    await this.#wakeBy(pseudonym.nextDueAt());
    return outcome;
  }

  /** Passes the author's words on to the operator, once a day at most. */
  async appeal(text: string): Promise<AppealOutcome> {
    const pseudonym = this.#known;
    if (pseudonym === null) return { kind: 'registered' };
    const { hash, history } = pseudonym;
    const now = systemClock.now();
    const standing = pseudonym.standing(now);
    const { reports, state } = standing;
    if (state === 'registered') return { kind: 'registered' };
    const allowedAt = history.appealAllowedAt(now);
    if (allowedAt > now) return { kind: 'too-often', leftMs: allowedAt - now };
    // Recorded before the operator is told. Otherwise many appeals at once would all get through.
    history.add('appealed', now);
    await this.#wakeBy(pseudonym.nextDueAt());
    const isTaken = await guardOf(this.env)
      .tell({ kind: 'appeal', hash, state, reports, text })
      .catch(() => false);
    if (isTaken) return { kind: 'taken', standing };
    history.takeBackAppeal();
    return { kind: 'busy' };
  }

  /** Posts a comment after those before it have ended. Never rejects because of the host. */
  async comment(request: CommentRequest): Promise<CommentOutcome> {
    if (this.#posts >= MAX_QUEUE) return { kind: 'busy' };
    const askedAt = systemClock.now();
    this.#posts += 1;
    const post = this.#lastPost.then(() => this.#post(request, askedAt));
    this.#lastPost = post.catch(() => {});
    const outcome = await post.finally(() => (this.#posts -= 1));
    if (outcome.kind === 'posted') {
      const { kv } = this.ctx.storage;
      if (kv.get(PART_KEY) === undefined) kv.put(PART_KEY, systemClock.now());
      const { owner, repo: name, number } = request;
      await this.#announce({ repository: { owner, name }, number }, outcome.url);
    }
    return outcome;
  }

  /** With a share of what is kept for people who take part in the thread. */
  #reserve(wants: Wants): Promise<Grant | Refused> {
    const { config, host } = this.#reached();
    const now = systemClock.now();
    const since = this.ctx.storage.kv.get<number>(PART_KEY) ?? now;
    const { hits, wait } = hit(this.#asPart, PART_LIMITS, now);
    const takesPart = wants.takesPart && now - since >= PART_AGE_MS && wait.waitMs === 0;
    if (takesPart) this.#asPart = hits;
    return reserve(hostAccountOf(this.env, host), { ...wants, takesPart }, loggerOf(config));
  }

  async #post(request: CommentRequest, askedAt: number): Promise<CommentOutcome> {
    if (systemClock.now() - askedAt > LONGEST_WAIT_MS) return { kind: 'busy' };
    if (request.host !== this.#hostKey) this.ctx.storage.kv.put(HOST_KEY, request.host);
    const host = openThreads(this.#reached().access);
    const pseudonym = this.#pseudonym();
    // While the comment is being posted, so that a report of it counts from the first moment on.
    const listing = this.#list(pseudonym.hash);
    const surroundings = {
      pseudonym,
      host,
      clock: systemClock,
      reserve: (wants: Wants) => this.#reserve(wants),
      track: (attempt: Attempt, posted: PostedComment) => this.#track(attempt, posted),
      wakeBy: (at: number | null) => this.#wakeBy(at),
    };
    const [posted] = await Promise.all([postComment(surroundings, request), listing]);
    return posted;
  }

  /** Does what is due. If it does not finish, the platform runs it again. */
  override async alarm(): Promise<void> {
    const now = systemClock.now();
    this.#alarmAt = null;
    const pseudonym = this.#known;
    if (pseudonym === null) return;
    const reached = reachHost(this.env, this.#hostKey, this.#http);
    if (reached === null) return this.ctx.storage.setAlarm(now + MISCONFIGURED_PAUSE_MS);
    this.#http = reached.http;
    const host = openThreads(reached.access);
    const { hash, moderation, comments, karma, history } = pseudonym;
    const supplies = { pseudonym, host, clock: systemClock };
    const found: { thread: Thread; url: string }[] = [];
    await doChores(supplies, comments.dueAttempts(now), async (attempt, { id, text, url }) => {
      await this.#track(attempt, { id, url });
      const chore = comments.settle(attempt, id, now);
      // The next comment's karma must be higher than any that is shown.
      if (chore === null) karma.raise(shownKarma(text, hash) ?? 0, now);
      if (chore !== 'delete') found.push({ thread: attempt, url });
    });
    for (const { thread, url } of found) await this.#announce(thread, url);
    await karma.deliver(now);
    const isListed = pseudonym.isNobody || (await this.#list(hash));
    moderation.prune(now);
    history.prune(now);
    await pseudonym.tellNews(guardOf(this.env), this.#hostKey, now);
    const dueAt = pseudonym.nextDueAt();
    this.#alarmAt = isListed ? dueAt : Math.min(dueAt ?? Infinity, now + LISTING_PAUSE_MS);
    if (this.#alarmAt !== null) return this.ctx.storage.setAlarm(this.#alarmAt);
    await this.ctx.storage.deleteAlarm();
    if (this.#posts === 0 && pseudonym.isNobody) await this.#vanish(hash);
  }

  /** Whether a look-up finds this pseudonym now. Never rejects: without its list the reports count all the same. */
  async #list(hash: string): Promise<boolean> {
    return (this.#isListed ||= await succeeds(listPseudonym(this.env.DB, hash)));
  }

  /** Deletes everything, unless a call arrives while the list is updated. */
  async #vanish(hash: string): Promise<void> {
    this.#isListed = false;
    const isUnlisted = await succeeds(unlistPseudonym(this.env.DB, hash));
    const isIdle = this.#posts === 0 && this.#pseudonym().isNobody;
    if (isUnlisted && isIdle) {
      this.#opened = null;
      await this.ctx.storage.deleteAll();
    } else {
      await this.#wakeBy(systemClock.now() + LISTING_PAUSE_MS);
    }
  }

  async #track({ repository, startedAt }: Attempt, { id: number, url }: PostedComment): Promise<void> {
    const { owner, name: repo } = repository;
    const comment = { kind: 'comment', host: this.#hostKey, owner, repo, number, url } as const;
    await guardOf(this.env).track(comment, null, startedAt);
  }

  /** For the topic of a pull request: the host does not notify the bot of its own comments. Never rejects. */
  async #announce({ repository, number }: Thread, commentUrl: string): Promise<void> {
    if (!PULL_REQUEST_COMMENT_PATTERN.test(commentUrl)) return;
    const feed = feedNamed(this.env, feedName(this.#hostKey));
    await feed.noteComment(repository, number).catch(() => {});
  }

  /** An alarm that goes off earlier finds nothing to do and sets the next one. */
  async #wakeBy(at: number | null): Promise<void> {
    if (this.#alarmAt === null) {
      const stored = await this.ctx.storage.getAlarm();
      // Another call may have set it in between.
      this.#alarmAt ??= stored;
    }
    if (at === null || (this.#alarmAt !== null && this.#alarmAt <= at)) return;
    this.#alarmAt = at;
    await this.ctx.storage.setAlarm(at);
  }

  #pseudonym(): Pseudonym {
    const { ctx, env } = this;
    const ledger = () => {
      const { config, http } = this.#reached();
      return openLedger(env, config, http);
    };
    return (this.#opened ??= new Pseudonym(ctx.storage, ctx.id.name, ledger));
  }

  /** Null: nothing was ever written about it, and nothing is now. */
  get #known(): Pseudonym | null {
    return hasRecords(this.ctx.storage.kv) ? this.#pseudonym() : null;
  }

  #reached(): Reached {
    const reached = reachHost(this.env, this.#hostKey, this.#http);
    if (reached === null) throw new Error('the code host of a comment is not configured');
    this.#http = reached.http;
    return reached;
  }

  /** Stored only for further hosts. Without it, the host is the first one. */
  get #hostKey(): string {
    return this.ctx.storage.kv.get<string>(HOST_KEY) ?? MAIN_HOST;
  }
}
