/**
 * One pseudonym on a thread, by its identity hash (contract, 2.2 to 2.5 and 3.1): its karma,
 * reports and comments. It posts the comments itself, one at a time, so that karma counts each of
 * them, and takes reports meanwhile. What follows from them (footers to edit, comments to delete)
 * is stored at once, and the alarm retries it until the host has done it, for a month at most.
 */
import { DurableObject } from 'cloudflare:workers';
import { MAIN_HOST } from '../../config/hosts.ts';
import type { Env } from '../../env.ts';
import type { CommentWithText, PostedComment } from '../../host/code-host.ts';
import { openThreads, type ThreadHost } from '../../host/open.ts';
import { succeeds } from '../../isolate/within.ts';
import { type Granted, reserveCreation } from '../../limits/port.ts';
import { hit } from '../../limits/sliding-window.ts';
import type { Claim, Denied } from '../../limits/claim.ts';
import { loggerOf } from '../../log.ts';
import { feedOf, guardOf, hostAccountNamed } from '../../objects.ts';
import type { HttpClient } from '../../outgoing/http-client.ts';
import { openLedger } from '../../stats/statistics.ts';
import { listPseudonym, unlistPseudonym } from '../../stats/recorded-hashes.ts';
import { commentText, exceededRoom, shownKarma } from '../../text/footer.ts';
import type { RepositoryName } from '../../words/repository-name.ts';
import { payerIn, type Reached, reachHost } from '../../host-access.ts';
import {
  type CommentOutcome,
  type CommentRequest,
  makeComment,
  noteAsked,
  silencedBy,
} from './comment-request.ts';
import type { CommentAttempt, PostedOn, Thread } from './comments.ts';
import { cooledDown, postingDecision, type Standing, UNREPORTED } from './moderation.ts';
import { hasRecords, type Pardon, Pseudonym } from './pseudonym.ts';

/** The most comments that wait, and the longest that one waits. */
const MAX_QUEUE = 100;
const LONGEST_WAIT_MS = 30_000;
/**
 * The pause until the configuration may be valid again. The platform retries a failing alarm only
 * six times.
 */
const MISCONFIGURED_PAUSE_MS = 15 * 60_000;
/** How long to leave a list alone that does not answer. */
const LISTING_PAUSE_MS = 60_000;
/**
 * The time after which an identity whose comment was refused is deleted again, if nothing is kept
 * of it.
 */
const FORGETTING_DELAY_MS = 60_000;

/** The key under which that of the code host is stored. */
const HOST_KEY = 'host';
/** The key under which the time of the first comment is stored. */
const PART_KEY = 'first comment';
/** The age of a first comment that did not come with a flood of this hour. */
const PART_AGE_MS = 60 * 60_000;
/**
 * How often comments count as a member's (src/limits/fairness.ts): one token must not carry a whole
 * flood.
 */
const PART_LIMITS = [{ most: 10, withinMs: PART_AGE_MS }];

/** The address of a comment says whether it is on an issue or on a pull request. */
const PULL_REQUEST_COMMENT_PATTERN = /\/pulls?\/\d+#/;

/** A comment that may be posted, and its place in the limits. */
interface Admitted {
  readonly kind: 'admitted';
  readonly text: string;
  readonly karma: number;
  /** Whether it counts: during a flag, it has the karma 0. */
  readonly isGood: boolean;
  readonly grant: Granted;
}

/** The answer. `registered`: nothing to appeal against. `busy`: the operator cannot be told now. */
type AppealOutcome =
  | { readonly kind: 'taken'; readonly standing: Standing }
  | { readonly kind: 'too-often'; readonly leftMs: number }
  | { readonly kind: 'registered' | 'busy' };

/** The facts that its page shows. */
export interface PublicRecord {
  readonly standing: Standing;
  readonly host: string;
  /** The newest first. */
  readonly posted: readonly PostedOn[];
}

export class Identity extends DurableObject<Env> {
  /**
   * Settles with the last post. Comments are posted in the order of the calls, never two at once.
   */
  #lastPost: Promise<unknown> = Promise.resolve();
  /** How many are waiting or being posted. */
  #posts = 0;
  #opened: Pseudonym | null = null;
  /** The moment when the alarm goes off, if that is known here. */
  #alarmAt: number | null = null;
  #asPart: readonly number[] = [];
  #http: HttpClient | null = null;
  /** Whether the list of pseudonyms has this one, as far as that is known here. */
  #isListed = false;

  publicRecord(): PublicRecord {
    const standing = this.#known?.standing(Date.now()) ?? UNREPORTED;
    return { standing, host: this.#hostKey, posted: this.#known?.comments.newest() ?? [] };
  }

  /**
   * Takes a report. Does not say whether it counts: that would tell all who share the address that
   * somebody there reported it.
   * @param reporter a keyed hash of the network, made for this pseudonym only
   * @param prefix the same of its /48
   */
  async report(reporter: string, prefix: string): Promise<Standing> {
    const isListed = await this.#list(this.#pseudonym().hash);
    // Meanwhile the alarm may have deleted everything.
    const pseudonym = this.#pseudonym();
    const now = Date.now();
    const standing = pseudonym.report({ reporter, prefix }, now);
    await this.#wakeBy(isListed ? pseudonym.nextDueAt() : now + LISTING_PAUSE_MS);
    return standing;
  }

  /**
   * Lifts what reports have led to: the operator has decided that they were wrong. Null: nothing
   * was ever written about this pseudonym.
   */
  async pardon(): Promise<Pardon | null> {
    const pseudonym = this.#known;
    if (pseudonym === null) return null;
    const outcome = pseudonym.pardon(Date.now());
    await this.#wakeBy(pseudonym.nextDueAt());
    return outcome;
  }

  /** Passes the author's words on to the operator, once a day at most. */
  async appeal(text: string): Promise<AppealOutcome> {
    const pseudonym = this.#known;
    if (pseudonym === null) return { kind: 'registered' };
    const { hash, history } = pseudonym;
    const now = Date.now();
    const standing = pseudonym.standing(now);
    const { reports, state } = standing;
    if (state === 'registered') return { kind: 'registered' };
    const allowedAt = history.appealAllowedAt(now);
    if (allowedAt > now) return { kind: 'too-often', leftMs: allowedAt - now };
    // Recorded before the operator is told. Otherwise many appeals at once would all get through.
    history.add('appealed', now);
    await this.#wakeBy(pseudonym.nextDueAt());
    // Whatever fails there, the appeal was not taken, and the person may send it again.
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
    const askedAt = Date.now();
    this.#posts += 1;
    const post = this.#lastPost.then(() => this.#post(request, askedAt));
    // Those that follow only wait for its end; its own caller gets the error.
    this.#lastPost = post.catch(() => {});
    const outcome = await post.finally(() => this.#endPost());
    if (outcome.kind === 'posted') {
      const { kv } = this.ctx.storage;
      if (kv.get(PART_KEY) === undefined) kv.put(PART_KEY, Date.now());
      const { owner, repo: name, number } = request;
      await this.#announce({ repository: { owner, name }, number }, outcome.url);
    }
    return outcome;
  }

  #endPost(): void {
    this.#posts -= 1;
    if (this.#posts === 0) this.#http?.closeIdle();
  }

  async #post(request: CommentRequest, askedAt: number): Promise<CommentOutcome> {
    if (Date.now() - askedAt > LONGEST_WAIT_MS) return { kind: 'busy' };
    if (request.host !== this.#hostKey) this.ctx.storage.kv.put(HOST_KEY, request.host);
    const host = openThreads(this.#reached().access);
    const pseudonym = this.#pseudonym();
    // While the comment is being posted, so that a report of it counts from the first moment on.
    const listing = this.#list(pseudonym.hash);
    const [outcome] = await Promise.all([this.#postAs(pseudonym, host, request), listing]);
    return outcome;
  }

  /** Posts the comment, if that is allowed, with the karma that is due. */
  async #postAs(pseudonym: Pseudonym, host: ThreadHost, request: CommentRequest): Promise<CommentOutcome> {
    const { comments, karma } = pseudonym;
    const { id, owner, repo: name, number } = request;
    // One whose answer was lost has a karma, too.
    await comments.findOpen(host, (attempt, found) => this.#settleFound(pseudonym, attempt, found));
    const admitted = await this.#admit(pseudonym, request);
    if (admitted.kind !== 'admitted') return admitted;
    const attempt = comments.begin({ repository: { owner, name }, number }, Date.now());
    // Sets the alarm that a success needs. If the attempt fails, that alarm does nothing. This
    // saves setting it twice.
    await this.#wakeBy(Math.min(attempt.dueAt, karma.dueAfter(Date.now())));
    // Nothing leaves before that is stored. If it cannot be, nothing runs here any more.
    await this.ctx.storage.sync();
    noteAsked(id);
    try {
      return await this.#send(pseudonym, host, attempt, admitted);
    } finally {
      await this.#wakeBy(karma.nextDueAt());
    }
  }

  /** Asks whether a comment may be posted, and takes its place in the limits. */
  async #admit(pseudonym: Pseudonym, request: CommentRequest): Promise<Admitted | CommentOutcome> {
    const { hash, karma } = pseudonym;
    const karmaBefore = await karma.current(Date.now());
    const isGood = postingDecision(pseudonym.facts, Date.now()) !== 'zero';
    const silenced = silencedBy(pseudonym.facts);
    if (silenced !== null) return silenced;
    const { owner, repo: name, body, origin, claim } = request;
    const by = { hash, karma: isGood ? karmaBefore + 1 : 0, origin };
    const maxCharacters = exceededRoom(body, by);
    const grant: Granted | CommentOutcome =
      maxCharacters === null
        ? await this.#reserve({ owner, name }, claim, isGood)
        : { kind: 'too-long', maxCharacters };
    if (grant.kind !== 'granted') {
      await this.#wakeBy(Date.now() + FORGETTING_DELAY_MS);
      return grant;
    }
    // It may have waited for its turn, and reports are taken meanwhile.
    const silencedSince = silencedBy(pseudonym.facts);
    if (silencedSince === null)
      return { kind: 'admitted', text: commentText(body, by), karma: by.karma, isGood, grant };
    await grant.release();
    return silencedSince;
  }

  async #send(
    pseudonym: Pseudonym,
    host: ThreadHost,
    attempt: CommentAttempt,
    { text, karma, isGood, grant }: Admitted,
  ): Promise<CommentOutcome> {
    const posted = await makeComment(pseudonym, host, attempt, text);
    if ('effect' in posted) {
      // Without an answer of the host it may be there.
      if (posted.effect === 'none') await grant.release();
      return { kind: 'failed', failure: posted };
    }
    const { url } = posted;
    // If the guard cannot be told, the attempt stays open: the alarm finds its comment, and tells
    // the guard then.
    const isTracked = await succeeds(this.#track(attempt, posted));
    const ordered = pseudonym.comments.settle(attempt, isTracked ? posted : null, Date.now());
    if (isTracked && ordered !== null) await this.#wakeBy(Date.now());
    // Blocked while it was being posted: it is deleted like the others.
    if (ordered === 'delete') return { kind: 'blocked' };
    // Flagged while it was being posted: its footer is edited like the others'.
    if (ordered === 'reset') return { kind: 'posted', url, karma: 0 };
    pseudonym.karma.set(karma, Date.now());
    if (!isGood) pseudonym.facts = cooledDown(pseudonym.facts, Date.now());
    return { kind: 'posted', url, karma };
  }

  /**
   * Asks the limits. Never rejects: without an answer, the comment is denied.
   * @param isGood false: nothing is kept for it
   */
  async #reserve(repository: RepositoryName, claim: Claim, isGood: boolean): Promise<Granted | Denied> {
    const reached = this.#reached();
    const now = Date.now();
    const since = this.ctx.storage.kv.get<number>(PART_KEY) ?? now;
    const { hits, wait } = hit(this.#asPart, PART_LIMITS, now);
    const takesPart = isGood && now - since >= PART_AGE_MS && wait.waitMs === 0;
    if (takesPart) this.#asPart = hits;
    const account = hostAccountNamed(this.env, await payerIn(reached, repository));
    return reserveCreation(account, { ...claim, takesPart }, loggerOf(reached.config));
  }

  /** Does what is due. If it does not finish, the platform runs it again. */
  override async alarm(): Promise<void> {
    const now = Date.now();
    this.#alarmAt = null;
    const pseudonym = this.#known;
    if (pseudonym === null) return;
    const reached = reachHost(this.env, this.#hostKey, this.#http);
    if (reached === null) return this.ctx.storage.setAlarm(now + MISCONFIGURED_PAUSE_MS);
    this.#http = reached.http;
    const { hash, comments, karma } = pseudonym;
    await comments.doDue(openThreads(reached.access), (attempt, found) =>
      this.#settleFound(pseudonym, attempt, found),
    );
    await karma.deliver(now);
    reached.http.closeIdle();
    const isListed = pseudonym.isNobody || (await this.#list(hash));
    pseudonym.prune(now);
    await pseudonym.tellNews(guardOf(this.env), this.#hostKey, now);
    const dueAt = pseudonym.nextDueAt();
    this.#alarmAt = isListed ? dueAt : Math.min(dueAt ?? Infinity, now + LISTING_PAUSE_MS);
    if (this.#alarmAt !== null) return this.ctx.storage.setAlarm(this.#alarmAt);
    await this.ctx.storage.deleteAlarm();
    if (this.#posts === 0 && pseudonym.isNobody) await this.#vanish(hash);
  }

  /**
   * Settles an attempt whose answer was lost with the comment that was found. Rejects if that could
   * not be tracked: then it is found again.
   */
  async #settleFound(
    { hash, comments, karma }: Pseudonym,
    attempt: CommentAttempt,
    found: CommentWithText,
  ): Promise<void> {
    const { text, url } = found;
    // The next comment's karma must be higher than any that is shown.
    if (comments.settle(attempt, null, Date.now()) === null)
      karma.raise(shownKarma(text, hash) ?? 0, Date.now());
    await this.#track(attempt, found);
    if (comments.settle(attempt, found, Date.now()) !== 'delete') await this.#announce(attempt, url);
  }

  /**
   * Lists the pseudonym, so that a look-up finds it. Answers whether it is listed. Never rejects:
   * without the list the reports count all the same.
   */
  async #list(hash: string): Promise<boolean> {
    return (this.#isListed ||= await succeeds(listPseudonym(this.env.DB, hash)));
  }

  /** Deletes everything, unless a call arrives while the list is updated. */
  async #vanish(hash: string): Promise<void> {
    this.#isListed = false;
    const isUnlisted = await succeeds(unlistPseudonym(this.env.DB, hash));
    const isIdle = this.#posts === 0 && this.#pseudonym().isNobody;
    if (!isUnlisted || !isIdle) return this.#wakeBy(Date.now() + LISTING_PAUSE_MS);
    this.#opened = null;
    await this.ctx.storage.deleteAll();
  }

  async #track({ repository, startedAt }: CommentAttempt, posted: PostedComment): Promise<void> {
    const { owner, name: repo } = repository;
    const { id: number, url, app = null } = posted;
    const comment = { kind: 'comment', host: this.#hostKey, owner, repo, number, url, app } as const;
    await guardOf(this.env).track(comment, null, startedAt);
  }

  /**
   * Lets the feed look at the pull request of a comment, because the host does not notify the bot
   * of its own comments. Never rejects.
   */
  async #announce({ repository, number }: Thread, commentUrl: string): Promise<void> {
    if (!PULL_REQUEST_COMMENT_PATTERN.test(commentUrl)) return;
    await succeeds(feedOf(this.env, this.#hostKey).noteComment(repository, number));
  }

  /** Sets the alarm. One that goes off earlier finds nothing to do and sets the next one. */
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

  /** Opens the pseudonym; null: nothing was ever written about it, and nothing is now. */
  get #known(): Pseudonym | null {
    return hasRecords(this.ctx.storage.kv) ? this.#pseudonym() : null;
  }

  #reached(): Reached {
    const reached = reachHost(this.env, this.#hostKey, this.#http);
    if (reached === null) throw new Error('the code host of a comment is not configured');
    this.#http = reached.http;
    return reached;
  }

  /** The key of the code host. It is stored only for further hosts: without it, it is the first. */
  get #hostKey(): string {
    return this.ctx.storage.kv.get<string>(HOST_KEY) ?? MAIN_HOST;
  }
}
