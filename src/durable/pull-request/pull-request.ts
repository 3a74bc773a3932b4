/**
 * One pull request, by its pr_hash: its record, the lease of the push that changes it, and an
 * outbox of messages about it. A push ends when it is recorded here. The alarm sends notifications,
 * and what the push could not tell itself, so that no outage delays a push, and messages survive a
 * short one. Recording a push again publishes nothing again. No notification is sent before the
 * host shows the pull request. Times are milliseconds since 1970, but for those of the history,
 * which are seconds.
 */
import { DurableObject } from 'cloudflare:workers';
import { configOf, openHttp } from '../../config/configured.ts';
import type { Env } from '../../env.ts';
import type { HostEvent } from '../../events/host-event.ts';
import { NO_BYTES } from '../../git/bytes.ts';
import { openActivity, openRepositories } from '../../host/open.ts';
import type { CommitCounts } from '../../text/commit-changes.ts';
import { workBranch } from '../../words/pr-hash.ts';
import type { HttpClient } from '../../outgoing/http-client.ts';
import { dueAgainAt, earliest, isDue } from '../due-rows.ts';
import { reachHost } from '../../host-access.ts';
import { Lease } from '../lease.ts';
import { type DeliveryResult, notTaken, Outbox } from '../outbox.ts';
import { History, isEnd, shortUrl } from './history.ts';
import { introduce, isFirst } from './introduce.ts';
import type { HistoryEvent, KeptHistory } from './history.ts';
import {
  deliverMessage,
  MESSAGE_LIFE_MS,
  type OutboxEntry,
  type OutboxEvent,
  surplusOf,
  TOLD_AS,
} from './messages.ts';
import { CommitDates, type DatedCommits, type KeptDates } from './record.ts';
import type { PullRequestRecord, RecordedPullRequest } from './record.ts';
import type { PullRequestStage } from './stages.ts';

const KEY = 'pull-request';

const NO_DATES: DatedCommits = { committedAt: 0, commitHashes: NO_BYTES };
/**
 * How long to look for a pull request that the host does not show. Then its messages stay unsent.
 */
const UNSEEN_LIFE_MS = 7 * 24 * 60 * 60 * 1000;
/**
 * The stored value. Everything is in it, so that whatever happens writes one row; only the dates of
 * its commits and the keys of the events that were told are apart. The parts change the value in
 * memory, and it is saved in the same turn. Only the end of `unseen`, when the host shows the pull
 * request, is saved with the messages that leave then.
 */
interface Kept extends KeptDates, KeptHistory {
  /** The pull request as the last push has recorded it; null: no push has. */
  record: RecordedPullRequest | null;
  /** Oldest first. */
  readonly outbox: OutboxEntry[];
  /**
   * Present while the host has opened it and does not show it yet. Until it does, nothing tells of
   * it.
   */
  unseen?: Unseen | undefined;
}

interface Unseen {
  readonly number: number;
  /** The moment when it was recorded. */
  readonly since: number;
  readonly looks: number;
  /** The moment of the next look. */
  readonly dueAt: number;
}

export interface RecordedPush {
  /** The rewritten tip. */
  readonly tip: string;
  /** The commits that it has rewritten for the first time. */
  readonly dates: DatedCommits;
  /** The lease that `claim` has given; null for a new pull request. */
  readonly lease: number | null;
  /** The host's number of the repository. Absent: the bot does not introduce itself. */
  readonly repositoryId?: number;
  /** The changes of an update. Absent: nobody has looked. */
  readonly commits?: CommitCounts;
}

/**
 * Receivers that are told of an open pull request before its push ends: the statistics, and the
 * guard for a rollback.
 */
export type ToldTo = 'statistics' | 'tracking';

/** `elsewhere`: it is at another code host. `busy`: another push to it is in progress. */
export type ClaimedPullRequest =
  | { readonly kind: 'elsewhere' | 'busy' }
  | {
      readonly kind: 'claimed';
      readonly lease: number;
      /** The pull request as the last push has recorded it; null: no push has. */
      readonly recorded: RecordedPullRequest | null;
      readonly dates: readonly DatedCommits[];
    };

/** The facts that its page and its feed show, all of them public at the code host. */
export interface PullRequestView extends PullRequestRecord {
  readonly state: PullRequestStage;
  /** Whether the host shows it. Until then, nobody must hear of it. */
  readonly isShown: boolean;
  /** Newest first. */
  readonly events: readonly HistoryEvent[];
}

/** A question to the host about the pull request `number`. */
interface HostLook {
  readonly number: number;
  readonly askedAt: number;
}

/** The lease of a preview, which locks nothing. */
const NO_LEASE = 0;

export class PullRequest extends DurableObject<Env> {
  readonly #sql: SqlStorage;
  readonly #kept: Kept;
  readonly #dates: CommitDates;
  readonly #outbox: Outbox<OutboxEntry>;
  readonly #history: History;
  readonly #lease = new Lease();
  #http: HttpClient | null = null;
  /** The look at the host that is under way. */
  #looking: Promise<number | null> | null = null;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#sql = ctx.storage.sql;
    const nothing = { record: null, datesUntil: null, events: [], outbox: [] };
    this.#kept = ctx.storage.kv.get<Kept>(KEY) ?? { ...nothing, standing: { state: 'open', at: 0 } };
    this.#dates = new CommitDates(this.#kept, ctx.storage.kv);
    this.#outbox = new Outbox({
      entries: this.#kept.outbox,
      save: () => this.#save(),
      lifeMs: ({ kind }) => MESSAGE_LIFE_MS[kind],
      receiver: ({ kind }) => kind,
    });
    this.#history = new History(this.#kept);
  }

  /**
   * Locks it for a push that updates it, until `record` or `release`.
   * @param host the key of the code host
   */
  async claim(host: string, at: number): Promise<ClaimedPullRequest> {
    const recorded = this.#kept.record;
    if (recorded !== null && recorded.host !== host) return { kind: 'elsewhere' };
    const lease = this.#lease.take(at);
    if (lease === null) return { kind: 'busy' };
    return { kind: 'claimed', lease, recorded, dates: this.#dates.read(at) };
  }

  /** Reads it for a preview, which locks nothing, and may show an update that is in progress. */
  async look(host: string, at: number): Promise<ClaimedPullRequest> {
    const recorded = this.#kept.record;
    if (recorded !== null && recorded.host !== host) return { kind: 'elsewhere' };
    return { kind: 'claimed', lease: NO_LEASE, recorded, dates: this.#dates.read(at) };
  }

  async release(lease: number): Promise<void> {
    this.#lease.release(lease);
  }

  /**
   * Records what a push has done, and queues its messages. Answers how many remarks came since the
   * last push. A repository keeps its number when it is renamed, and another never takes its place.
   */
  async record(pullRequest: PullRequestRecord, push: RecordedPush, at: number): Promise<number> {
    const { number, url } = pullRequest;
    const known = this.#kept.record;
    const { repositoryId = known?.repositoryId } = push;
    if (known?.repositoryId !== undefined && known.repositoryId !== repositoryId)
      throw new Error('the pull request is recorded in another repository');
    // After a pull request was closed, a push may open another one from the same branch: hence the
    // number.
    const isNew = known?.number !== number;
    const isMoved = known?.tip !== push.tip;
    const remarks = isNew ? 0 : this.#history.remarksSincePush();
    // Without a title, it keeps its own.
    const title = known?.title;
    const kept = {
      ...(title !== undefined && { title }),
      ...(repositoryId !== undefined && { repositoryId }),
    };
    this.#kept.record = { ...kept, ...pullRequest, tip: push.tip };
    this.#dates.add(isMoved ? push.dates : NO_DATES, at);
    if (push.lease !== null) this.#lease.release(push.lease);
    // An update has found it at the host.
    if (push.lease !== null && !isNew) this.#kept.unseen = undefined;
    if (isNew || isMoved) {
      if (isNew && known !== null) this.#history.nameEarlier(known.number);
      if (isNew && repositoryId !== undefined)
        this.#queue('introduction', 'opened', '', at, { repositoryId });
      if (isNew) this.#kept.unseen = { number, since: at, looks: 0, dueAt: 0 };
      const event = isNew ? 'opened' : 'updated';
      this.#queue('notification', event, '', at);
      const changes = event === 'updated' && push.commits !== undefined ? { commits: push.commits } : {};
      this.#history.add(event, url, at, { ...this.#named(number), ...changes });
      this.#history.move(isNew ? 'open' : 'update', at);
    }
    this.#save();
    if (isNew || isMoved) await this.ctx.storage.setAlarm(at);
    return remarks;
  }

  /**
   * Keeps what the push could not tell, for the alarm.
   * @param at the moment when it opened the pull request
   */
  async tellLater(whom: readonly ToldTo[], at: number, works?: readonly string[]): Promise<void> {
    const url = this.#kept.record?.url ?? '';
    const more = works === undefined ? {} : { works };
    for (const kind of whom) this.#queue(kind, 'opened', url, at, more);
    this.#save();
    await this.ctx.storage.setAlarm(at);
  }

  /**
   * Records a pull request whose push ended before it could do so.
   * @param at the moment when that push began
   */
  async adopt(pullRequest: PullRequestRecord, repositoryId: number, at: number): Promise<void> {
    const push = { tip: '', dates: NO_DATES, lease: null, repositoryId };
    if (this.#kept.record === null) await this.record(pullRequest, push, at);
    await this.tellLater(['statistics', 'tracking'], at);
  }

  /**
   * Tells topic, page and feed what happened on the host, each event once. False: no push has
   * recorded it there.
   * @param host the key of the code host: a branch elsewhere may have the same name
   * @param look means that `events` are all, so if none ends it, it is open
   */
  async tell(host: string, events: readonly HostEvent[], at: number, look?: HostLook): Promise<boolean> {
    const { record } = this.#kept;
    if (record?.host !== host) return false;
    if (events.length > 0)
      this.#sql.exec('CREATE TABLE IF NOT EXISTS told (key TEXT PRIMARY KEY) WITHOUT ROWID');
    const insert = 'INSERT OR IGNORE INTO told VALUES (?)';
    const news = events.filter(({ key }) => this.#sql.exec(insert, key).rowsWritten > 0);
    const before = this.#kept.standing;
    for (const { kind, url, number } of news) {
      this.#queue('notification', TOLD_AS[kind], '', at);
      this.#history.add(kind, url, at, this.#named(number));
    }
    // An earlier pull request from the same branch says nothing about the state of this one.
    const end = events.filter(({ number }) => number === record.number).findLast(isEnd);
    if (end !== undefined || look?.number === record.number) {
      const ending = end === undefined ? null : { state: end.kind, isNew: news.includes(end) };
      const isReopened = this.#history.observe(ending, look?.askedAt ?? at);
      if (isReopened) this.#history.add('reopened', record.url, at, this.#named(record.number));
    }
    const isSeen = look?.number === record.number && this.#kept.unseen?.number === record.number;
    if (isSeen) this.#kept.unseen = undefined;
    const hasNews = news.length > 0 || isSeen;
    if (hasNews || this.#kept.standing !== before) this.#save();
    if (hasNews) await this.ctx.storage.setAlarm(at);
    return true;
  }

  /** Names the pull request of an event, which may be an earlier one of this hash. */
  #named(number: number): Pick<HistoryEvent, 'number' | 'title'> {
    const { record, events } = this.#kept;
    const isCurrent = record?.number === number;
    const title = isCurrent ? record.title : events.findLast((event) => event.number === number)?.title;
    return { number, ...(title !== undefined && { title }) };
  }

  /** Asks the host at once whether it shows the pull request, unless it was asked lately. */
  async askHost(): Promise<void> {
    if (this.#kept.unseen === undefined) return;
    const now = Date.now();
    await this.#look(now);
    this.#http?.closeIdle();
    if (this.#kept.unseen !== undefined) return;
    this.#save();
    await this.ctx.storage.setAlarm(now);
  }

  /** Reads it for its page; null: no push has recorded it, and nothing is written. */
  async view(): Promise<PullRequestView | null> {
    const { record, standing, unseen, events } = this.#kept;
    if (record === null) return null;
    const { tip: _, ...known } = record;
    const isShown = unseen === undefined;
    return { ...known, state: standing.state, isShown, events: events.toReversed() };
  }

  override async alarm(): Promise<void> {
    const now = Date.now();
    const lookAt = await this.#look(now);
    const isHeld = ({ kind }: OutboxEntry) =>
      (kind === 'notification' || kind === 'introduction') && this.#kept.unseen !== undefined;
    const retryAt = await this.#outbox.empty((entry) => this.#deliver(entry), isHeld);
    this.#http?.closeIdle();
    if (this.#dates.expire(now)) this.#save();
    const nextAt = earliest(lookAt, retryAt, this.#kept.datesUntil);
    // What came in meanwhile has set the alarm for itself.
    const isNeeded = nextAt !== null && (await this.ctx.storage.getAlarm()) === null;
    if (isNeeded) await this.ctx.storage.setAlarm(nextAt);
  }

  /** Adds a message. The caller saves it. */
  #queue(
    kind: OutboxEntry['kind'],
    event: OutboxEvent,
    url: string,
    at: number,
    more: Pick<OutboxEntry, 'works' | 'repositoryId'> = {},
  ): void {
    const { outbox } = this.#kept;
    outbox.push({ kind, event, url: shortUrl(url), at, ...more, attempts: 0, dueAt: 0 });
    this.#outbox.remove(surplusOf(outbox));
  }

  #save(): void {
    this.ctx.storage.kv.put(KEY, this.#kept);
  }

  /**
   * Asks the host for it, if it is not shown yet and it is time. Whoever asks meanwhile waits for
   * the same answer, as anybody may ask. Answers when to look again; null: never.
   */
  #look(now: number): Promise<number | null> {
    return (this.#looking ??= this.#lookOnce(now).finally(() => (this.#looking = null)));
  }

  async #lookOnce(now: number): Promise<number | null> {
    const { unseen } = this.#kept;
    if (unseen === undefined) return null;
    const { number, since, looks, dueAt } = unseen;
    // After a long outage, once more.
    if (looks > 0 && now - since > UNSEEN_LIFE_MS) return null;
    if (!isDue(dueAt, now)) return dueAt;
    const isShown = await this.#isShown(number);
    // Meanwhile a push may have opened another one, or the host may have told of this one.
    if (this.#kept.unseen !== unseen) return this.#lookOnce(now);
    const next = isShown ? undefined : { ...unseen, looks: looks + 1, dueAt: dueAgainAt(looks, now, 0) };
    this.#kept.unseen = next;
    // Once it is shown, its messages leave, and that is saved.
    if (!isShown) this.#save();
    return next?.dueAt ?? null;
  }

  /** Asks whether the host shows the pull request. False if it does not answer. */
  async #isShown(number: number): Promise<boolean> {
    const { record } = this.#kept;
    if (record === null || configOf(this.env).kind === 'invalid') return false;
    const reached = reachHost(this.env, record.host, this.#http);
    // Nobody can be asked.
    if (reached === null || reached.host.token === null) return true;
    this.#http = reached.http;
    const { access } = reached;
    const name = { owner: record.owner, name: record.repo };
    try {
      if ((await openActivity(access, () => {}).pullRequest(name, number)) !== null) return true;
      // Where a host does not show one by its number, its list decides.
      const repositories = openRepositories(access);
      const { login } = await repositories.account();
      const head = { owner: login, branch: workBranch(record.prHash) };
      return (await repositories.findPullRequest(name, head))?.number === number;
    } catch {
      return false;
    }
  }

  /** Delivers an entry. Whatever goes wrong, it stays in the outbox and is tried again. */
  async #deliver(entry: OutboxEntry): Promise<DeliveryResult> {
    const { record } = this.#kept;
    const result = configOf(this.env);
    if (record === null || result.kind === 'invalid') return { kind: 'failed', askedMs: 0, all: true };
    if (entry.kind === 'introduction') return this.#introduce(entry, record);
    const { config } = result;
    const http = (this.#http ??= openHttp(config));
    try {
      await deliverMessage(this.env, config, http, record, entry);
      return { kind: 'done' };
    } catch (error) {
      return notTaken(config.notifyBaseUrl, config, error, entry.attempts);
    }
  }

  /** Introduces the bot if this is its first pull request in the repository. Never rejects. */
  async #introduce(entry: OutboxEntry, record: PullRequestRecord): Promise<DeliveryResult> {
    const reached = reachHost(this.env, record.host, this.#http);
    // One that has ended meanwhile needs none.
    if (reached === null || this.#kept.standing.state !== 'open') return { kind: 'done' };
    this.#http = reached.http;
    if (entry.repositoryId) {
      const first = await isFirst(this.env, reached, entry.repositoryId).catch(() => null);
      if (first === null) return { kind: 'failed', askedMs: 0, all: false };
      if (!first) return { kind: 'done' };
      entry.repositoryId = null;
      this.#save();
    }
    if (entry.isBegun === true) return { kind: 'done' };
    const result = await introduce(reached, record, async () => {
      entry.isBegun = true;
      this.#save();
      await this.ctx.storage.sync();
    });
    // Nothing was posted. The outbox saves it.
    if (result.kind === 'failed') entry.isBegun = false;
    return result;
  }
}
