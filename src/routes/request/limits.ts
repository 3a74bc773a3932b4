/**
 * The port of limits for a request, and what a client over one is answered, always before the work
 * that it bounds.
 */
import { waitUntil } from 'cloudflare:workers';
import type { Context } from 'hono';
import { hostNameOf, recordName } from '../../config/hosts.ts';
import { accountOf, hostAccountOf } from '../../durable/host-access.ts';
import type { AppEnv } from '../../env.ts';
import { readsPauseMs } from '../../host/account/account-budget.ts';
import { HostError } from '../../words/host-error.ts';
import { HostPause } from '../../host/failure.ts';
import { limitText } from '../../config/values.ts';
import { FOREIGN_ORIGINS, OPEN_LIMITS, type OpenLimitName } from '../../limits/limits.ts';
import { Limits, type Refused as Unreserved } from '../../limits/port.ts';
import { type Limit, NO_WAIT, toldMs, type TriedWait, type Wait } from '../../limits/sliding-window.ts';
import { commentsIn, type Target, targetKey } from '../../limits/wants.ts';
import { clientWindowsOf, guardOf } from '../../objects.ts';
import { HttpClient } from '../../outgoing/http-client.ts';
import { POLICY_PATH } from '../../policy/policy.ts';
import { fullName, type RepositoryName } from '../../words/repository-name.ts';
import { serviceSecret } from '../../secret/open-secret.ts';
import { isStorageFailure } from '../../storage-failure.ts';
import { clientOf } from './client.ts';
import { isCrossSite } from './payload.ts';
import { answerRefused, NOT_KEPT, type Refused, refused, retryAfter, sentence } from './refused.ts';

export function limitsOf(c: Context<AppEnv>): Limits {
  return new Limits({
    client: () => clientOf(c),
    open: c.var.config.limits,
    windows: (key) => clientWindowsOf(c.env, key),
    account: () => hostAccountOf(c.env, c.var.host),
    mayTrack: () => guardOf(c.env).mayTrack(),
    isOneMachine: c.env.ONE_MACHINE !== undefined,
    // Those of all hosts, as the calls of a client count together, and not every route has a host.
    scarceMs: () => Math.max(...c.var.config.hosts.map((host) => readsPauseMs(accountOf(host), Date.now()))),
    logger: c.var.logger,
  });
}

/** For endpoints that write: fails closed. Null if the client may go on. */
export async function refuseTooMany(c: Context<AppEnv>, name: OpenLimitName): Promise<Refused | null> {
  const limits = limitsOf(c);
  try {
    const calls = await limits.known('calls');
    if (calls.waitMs > 0) return overLimit(c, 'calls', calls);
    const wait = await limits.count(name);
    return wait.waitMs > 0 ? overLimit(c, name, wait) : null;
  } catch (error) {
    return uncheckedLimit(c, error);
  }
}

/**
 * Counts a comment or an issue. A page of another site has a small window besides, and is told the
 * same whichever is full.
 */
export async function refusePost(c: Context<AppEnv>): Promise<Refused | null> {
  if (!isForeign(c)) return refuseTooMany(c, 'comments');
  try {
    const { waitMs } = await limitsOf(c).count('foreign');
    const refusal = waitMs > 0 ? null : await refuseTooMany(c, 'comments');
    return waitMs > 0 || refusal?.status === 429 ? FOREIGN_REFUSED : refusal;
  } catch (error) {
    return uncheckedLimit(c, error);
  }
}

/**
 * Whether a page of a site is asking that is neither the service nor one that the operator has
 * named.
 */
export function isForeign(c: Context<AppEnv>): boolean {
  const { allowedOrigins } = c.var.config;
  return isCrossSite(c.req.raw) && allowedOrigins?.includes(c.req.header('Origin') ?? '') !== true;
}

/**
 * For pages of other sites. It does not say how long exactly: that would tell what the network has
 * had.
 */
export const FOREIGN_WAIT_MS = 75 * 60_000;
export const FOREIGN_WORDS = `Pages of other sites have ${FOREIGN_ORIGINS.most} pushes and posts an hour for your network, all together.`;
const FOREIGN_REFUSED = refused(429, FOREIGN_WORDS, { 'Retry-After': retryAfter(FOREIGN_WAIT_MS) });

export function uncheckedLimit(c: Context<AppEnv>, error: unknown): Refused {
  c.var.logger.error('a limit could not be checked', { error });
  const message = isStorageFailure(error)
    ? 'the service cannot write at the moment; nothing was posted: try again later'
    : 'the service cannot check its limits; nothing was posted: try again in a minute';
  return refused(503, message, { 'Retry-After': '60' });
}

/** For endpoints that only read: if the limit cannot be checked, the request passes. */
export async function withinLimit(
  c: Context<AppEnv>,
  name: OpenLimitName,
  work: () => Promise<Response>,
): Promise<Response> {
  const wait = await limitsOf(c)
    .count(name)
    .catch((error: unknown) => {
      c.var.logger.warn('a limit could not be checked', { error });
      return NO_WAIT;
    });
  return wait.waitMs > 0 ? textRefusal(c, name, wait) : work();
}

/**
 * What `find` finds, or null. Misses count; after too many, a client that guesses does not even
 * learn of a hit.
 */
export async function lookUp<T>(
  c: Context<AppEnv>,
  find: () => Promise<T | null>,
): Promise<T | Response | null> {
  const limits = limitsOf(c);
  const known = await limits.known('lookUps').catch(() => NO_WAIT);
  if (known.waitMs > 0) return textRefusal(c, 'lookUps', known);
  const found = await find();
  const wait = found === null ? await limits.countMiss() : NO_WAIT;
  return wait.waitMs > 0 ? textRefusal(c, 'lookUps', wait) : found;
}

function textRefusal(c: Context<AppEnv>, name: OpenLimitName, wait: TriedWait): Response | Promise<Response> {
  const over = overLimit(c, name, wait);
  const headers = { ...over.headers, ...NOT_KEPT };
  return answerRefused(c, { ...over, explanation: sentence(over.error), headers }, 'text');
}

const overLimit = (c: Context<AppEnv>, name: OpenLimitName, wait: TriedWait): Refused =>
  refusedUntil(wait, tooMany(c, name, wait));

export function refusedUntil(wait: Wait, error: string): Refused {
  return refused(429, error, { 'Retry-After': retryAfter(toldMs(wait)) });
}

/** `too many pushes from your network: at most 60 in 1m; try again in about a minute` */
export function tooMany(c: Context<AppEnv>, name: OpenLimitName, wait: TriedWait): string {
  const { wider } = wait;
  const limit = limitText(wider ?? c.var.config.limits[name]);
  const { what } = OPEN_LIMITS[name];
  const whose = wider === undefined ? 'your network' : 'the networks around yours';
  return `too many ${what} from ${whose}: at most ${limit}; try again in ${waitText(wait)}`;
}

/** What one repository, or one thread, takes from all clients together. */
export interface NamedTarget extends Target {
  /** `owner/repo` */
  readonly repository: string;
  /** What the refusal says, all but the wait. */
  readonly words: string;
}

/**
 * @param number of the thread; null: for what is opened.
 * @param policyLimits those of the repository.
 */
export async function targetOf(
  c: Context<AppEnv>,
  repository: RepositoryName,
  number: number | null,
  policyLimits: readonly Limit[],
): Promise<NamedTarget> {
  const { config, host } = c.var;
  const [what, thread] = number === null ? ['pull requests and issues', ''] : ['comments', `#${number}`];
  const limits = lowered(config.limits[number === null ? 'target' : 'thread'], policyLimits);
  const isLowered = policyLimits.some((limit) => limits.includes(limit));
  const says = isLowered ? `, as its ${POLICY_PATH} says` : '';
  const secret = await serviceSecret(c.env, config.identitySecret);
  return {
    key: targetKey(secret, `${recordName(host, repository)}${thread}`),
    limits,
    repository: fullName(repository),
    words: `too many ${what} for ${fullName(repository)}${thread}: this service posts at most ${limitText(limits)} there for all people together${says}`,
  };
}

/**
 * Why nothing is created, as JSON endpoints say it: `<words of the target>; try again in about 45
 * minutes`
 */
export function waitWords(c: Context<AppEnv>, wait: Unreserved, target: NamedTarget | null): string {
  let why = `${hostNameOf(c.var.host)} limits the bot account, which has almost reached that limit: networks and repositories that have used less come first`;
  if (target !== null && (wait.for === 'repository' || wait.for === 'thread')) why = target.words;
  if (target !== null && wait.for === 'comments') {
    const limit = limitText([commentsIn(c.var.config.limits.creations)]);
    why = `too many comments for ${target.repository}: this service posts at most ${limit} there for all people together`;
  }
  return `${why}; try again in ${waitText(wait)}`;
}

export function refusedToPost(c: Context<AppEnv>, wait: Unreserved, target: NamedTarget | null): Refused {
  if (wait.for === 'unknown') return uncheckedLimit(c, wait.error);
  return refusedUntil(wait, waitWords(c, wait, target));
}

const implies = (limit: Limit, other: Limit): boolean =>
  limit.most <= other.most && limit.withinMs >= other.withinMs;

/**
 * What is allowed if `more` is to hold as well. What another implies is left out; of equal ones,
 * all but the first.
 */
export function lowered(limits: readonly Limit[], more: readonly Limit[]): readonly Limit[] {
  const all = [...limits, ...more];
  return all.filter(
    (limit, at) =>
      !all.some((other, index) => implies(other, limit) && (index < at || !implies(limit, other))),
  );
}

/** `about 45 minutes`, as `toldMs` rounds it. */
export function waitText(wait: Wait): string {
  const minutes = Math.max(1, toldMs(wait) / 60_000);
  if (minutes === 60) return 'about an hour';
  const [count, unit] = minutes > 90 ? [Math.ceil(minutes / 60), 'hour'] : [minutes, 'minute'];
  return `about ${count === 1 ? 'a' : count} ${unit}${count === 1 ? '' : 's'}`;
}

/** Discovery belongs to a push, or to a fetch, which asks Git. */
const DISCOVERY = /\/info\/refs$/;

/**
 * Charges the bot account's calls to the client that causes them: the host allows some 5,000 an
 * hour for everybody.
 */
export class ChargedHttp extends HttpClient {
  readonly #c: Context<AppEnv>;

  constructor(c: Context<AppEnv>) {
    super(c.var.config.outgoingFetchHosts);
    this.#c = c;
  }

  /**
   * What only reads is asked at each call, as hundreds of pages can begin at once; what writes must
   * not stop half-way.
   * @throws HostError for a page or a badge, when the client has no calls left, or the account's
   * are for those who write
   */
  override async fetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
    const { config } = this.#c.var;
    const host = config.hosts.find(
      ({ apiUrl }) => typeof input === 'string' && input.startsWith(`${apiUrl}/`),
    );
    if (host === undefined) return super.fetch(input, init);
    const { method, path } = this.#c.req;
    const onlyReads = (method === 'GET' || method === 'HEAD') && !DISCOVERY.test(path);
    const pauseMs = onlyReads ? readsPauseMs(accountOf(host), Date.now()) : 0;
    if (pauseMs > 0) throw new HostPause(hostNameOf(host), pauseMs);
    const limits = limitsOf(this.#c);
    const charging = limits.charge();
    waitUntil(charging.then(() => limits.tellCalls()));
    const wait = onlyReads ? await charging : NO_WAIT;
    if (wait.waitMs === 0) return super.fetch(input, init);
    const message = sentence(tooMany(this.#c, 'calls', wait));
    throw new HostError('rate-limited', message, undefined, { retryAfterMs: toldMs(wait), whose: 'person' });
  }
}
