/**
 * The limits of a scope, and the words for who is over one.
 * Proved by test/routes/request/limits.test.ts and test/routes/request/targets.test.ts.
 */
import type { Config } from '../config/config.ts';
import { hostNameOf, recordName } from '../config/hosts.ts';
import { limitText } from '../config/values.ts';
import { accountOf } from '../host-access.ts';
import { readsPauseMs } from '../host/account/account-budget.ts';
import { FIXED_TRIES, FOREIGN_ORIGINS, OPEN_LIMITS, type OpenLimitName } from '../limits/limits.ts';
import { CreationLimits } from '../limits/port.ts';
import { TryLimits } from '../limits/tries.ts';
import { type Limit, toldMs, type TriedWait, type Wait } from '../limits/sliding-window.ts';
import { commentsIn, type Denied, type Target, targetKey } from '../limits/claim.ts';
import { clientWindowsOf, guardOf, hostAccountNamed } from '../objects.ts';
import { POLICY_PATH } from '../policy/policy.ts';
import { serviceSecret } from '../secret/open-secret.ts';
import { fullName, type RepositoryName } from '../words/repository-name.ts';
import { clientOf, type HostScope, type Scope } from './scope.ts';

/** The part of a scope that it takes to limit a client. */
export type LimitedScope = Pick<Scope, 'env' | 'config' | 'logger' | 'network'>;

export function limitsOf(scope: LimitedScope): TryLimits {
  const { env, config, logger } = scope;
  return new TryLimits({
    client: () => clientOf(scope),
    open: config.limits,
    windows: (key) => clientWindowsOf(env, key),
    isOneMachine: env.ONE_MACHINE !== undefined,
    // Those of all hosts, as the calls of a client count together, and not every route has a host.
    scarceMs: () => Math.max(...config.hosts.map((host) => readsPauseMs(accountOf(host), Date.now()))),
    logger,
  });
}

/** @param account that pays: the bot's, or what `payerIn` gives. */
export function creationLimitsOf(
  { env, host, logger }: Pick<HostScope, 'env' | 'host' | 'logger'>,
  account = accountOf(host),
): CreationLimits {
  return new CreationLimits({
    account: () => hostAccountNamed(env, account),
    mayTrack: () => guardOf(env).mayTrack(),
    logger,
  });
}

/**
 * The wait that pages of other sites are told. It is always the same, because the exact one would
 * tell what the network has had.
 */
export const FOREIGN_WAIT_MS = 75 * 60_000;
export const FOREIGN_WORDS = `Pages of other sites have ${FOREIGN_ORIGINS.most} pushes and posts an hour for your network, all together.`;

/** Says the same of what such pages read, of which the network's own counts apart. */
export function tooManyForeign(wait: Wait): string {
  const limit = limitText(FIXED_TRIES.foreignReads);
  return `too many reads by pages of other sites in your network: at most ${limit}; try again in ${waitText(wait)}`;
}

/** Says `too many pushes from your network: at most 60 in 1m; try again in about a minute`. */
export function tooMany(config: Config, name: OpenLimitName, wait: TriedWait): string {
  const { wider } = wait;
  const limit = limitText(wider ?? config.limits[name]);
  const { what } = OPEN_LIMITS[name];
  const whose = wider === undefined ? 'your network' : 'the networks around yours';
  return `too many ${what} from ${whose}: at most ${limit}; try again in ${waitText(wait)}`;
}

/** A repository or a thread, with the words for whom its limit refuses. */
export interface NamedTarget extends Target {
  /** `owner/repo` */
  readonly repository: string;
  /** The words of the refusal, all but the wait. */
  readonly words: string;
}

/**
 * The target of a comment, or of what is opened.
 * @param number of the thread; null: something is opened in the repository.
 * @param policyLimits those that the repository's policy sets.
 */
export async function targetOf(
  scope: HostScope,
  repository: RepositoryName,
  number: number | null,
  policyLimits: readonly Limit[],
): Promise<NamedTarget> {
  const { env, config, host } = scope;
  const [what, thread] = number === null ? ['pull requests and issues', ''] : ['comments', `#${number}`];
  const limits = lowered(config.limits[number === null ? 'target' : 'thread'], policyLimits);
  const isLowered = policyLimits.some((limit) => limits.includes(limit));
  const says = isLowered ? `, as the ${POLICY_PATH} for it says` : '';
  const secret = await serviceSecret(env, config.identitySecret);
  return {
    key: targetKey(secret, `${recordName(host, repository)}${thread}`),
    limits,
    repository: fullName(repository),
    words: `too many ${what} for ${fullName(repository)}${thread}: this service posts at most ${limitText(limits)} there for all people together${says}`,
  };
}

/**
 * Tells why nothing is created, in the form of JSON endpoints: `<why>; try again in about 45
 * minutes`.
 */
export function deniedWords(
  { config, host }: Pick<HostScope, 'config' | 'host'>,
  denied: Denied,
  target: NamedTarget | null,
): string {
  let why = `${hostNameOf(host)} limits this service, which has almost reached that limit: networks and repositories that have used less come first`;
  if (target !== null && (denied.window === 'repository' || denied.window === 'thread')) why = target.words;
  if (target !== null && denied.window === 'comments') {
    const limit = limitText([commentsIn(config.limits.creations)]);
    why = `too many comments for ${target.repository}: this service posts at most ${limit} there for all people together`;
  }
  return `${why}; try again in ${waitText(denied)}`;
}

const implies = (limit: Limit, other: Limit): boolean =>
  limit.most <= other.most && limit.withinMs >= other.withinMs;

/**
 * Adds limits to others, so that all hold. A limit that another one implies is left out; of equal
 * ones, the first stays.
 */
export function lowered(limits: readonly Limit[], more: readonly Limit[]): readonly Limit[] {
  const all = [...limits, ...more];
  return all.filter(
    (limit, at) =>
      !all.some((other, index) => implies(other, limit) && (index < at || !implies(limit, other))),
  );
}

/** Says `about 45 minutes`, as `toldMs` rounds it. */
export function waitText(wait: Wait): string {
  const minutes = Math.max(1, toldMs(wait) / 60_000);
  if (minutes === 60) return 'about an hour';
  const [count, unit] = minutes > 90 ? [Math.ceil(minutes / 60), 'hour'] : [minutes, 'minute'];
  return `about ${count === 1 ? 'a' : count} ${unit}${count === 1 ? '' : 's'}`;
}
