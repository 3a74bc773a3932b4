/**
 * How often something may be done, each limit with its reason: those that the contract fixes
 * (section 8), those that we fix beside them, and those that the operator can set by a variable,
 * which are so generous that no person notices them.
 */
import type { Limit } from './sliding-window.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/**
 * Pull requests of one client: the contract's limit (section 8), because each makes work for
 * somebody else's maintainers. An update does not count, unless it opens another pull request.
 */
export const PULL_REQUESTS = { most: 5, withinMs: HOUR_MS, untilQuarter: true } as const satisfies Limit;

/**
 * Pull requests of an IPv6 /48, which a free tunnel gives to anybody. Enough for four clients that
 * share an office or a campus.
 */
export const PREFIX_PULL_REQUESTS = {
  most: 20,
  withinMs: HOUR_MS,
  untilQuarter: true,
} as const satisfies Limit;

/**
 * Pull requests of all circuits of an onion service together: four circuits must not shut it for an
 * hour. docs/onion.md tells what many can do.
 */
export const ONION_PULL_REQUESTS = {
  most: 100,
  withinMs: HOUR_MS,
  untilQuarter: true,
} as const satisfies Limit;

/**
 * Repositories forked for one IPv4 address or IPv6 /48, because a refused push leaves its fork.
 * Five pull requests an hour need five.
 */
export const FORKS = { most: 10, withinMs: HOUR_MS, untilQuarter: true } as const satisfies Limit;

/**
 * Pushes and posts that the pages of all other sites may send for one network, together. Any page
 * that somebody has open can send them, and would read from the answers what the person has used of
 * their limits.
 */
export const FOREIGN_ORIGINS = { most: 2, withinMs: HOUR_MS, untilQuarter: true } as const satisfies Limit;

const PREFIX = 'an IPv4 address or an IPv6 /48';
const ALL = 'all clients together';

/** Fixed limits of attempts, which count also if they fail. */
export const FIXED_TRIES = {
  /** The contract's. Guessing the password takes many attempts. */
  admin: [{ most: 10, withinMs: MINUTE_MS }],
  /** Wrong passwords and tokens of an IPv6 /48, whose 65,536 networks have ten a minute each. */
  prefixAdmin: [{ most: 40, withinMs: MINUTE_MS }],
  /** The contract's. Each rollback costs the code host many requests. */
  rollback: [{ most: 5, withinMs: MINUTE_MS }],
  /** Pushes and posts of pages of other sites. They count in all other limits, too. */
  foreign: [FOREIGN_ORIGINS],
  /**
   * Discoveries of those pages, and their look-ups of unknown hashes: one a second each. Beyond
   * that of either, both wait. They count in no limit of the network, which they would use up, and
   * from which they would read how often and when the network asks.
   */
  foreignReads: [{ most: 60, withinMs: MINUTE_MS }],
} as const satisfies Record<string, readonly Limit[]>;

/**
 * Describes a limit that the operator can set.
 * @param usual the default, in the form of the variable.
 * @param what is counted, for /docs and for the answer that refuses it.
 * @param countedFor who shares the limit; null: each client has its own.
 * @param longestHours the longest window that the variable may have.
 */
function open<const V extends `LIMIT_${string}`>(
  variable: V,
  usual: string,
  what: string,
  countedFor: typeof PREFIX | typeof ALL | 'the bot account' | null = null,
  longestHours = 24,
) {
  return { variable, usual, what, countedFor, longestHours };
}

/** Limits that the contract leaves open. */
export const OPEN_LIMITS = {
  /** More than anybody types: one a second for a minute, or 240 in an hour. */
  comments: open('LIMIT_COMMENTS', '60/1m,240/1h', 'comments and issues'),
  /**
   * More than a large project has on a busy day. A repository may lower this limit and the next one
   * in its `.gitveil.yml`.
   */
  target: open('LIMIT_TARGET', '100/1h', 'pull requests and issues opened in one repository', ALL),
  /** As many as a heated discussion has: four comments a minute. */
  thread: open('LIMIT_THREAD', '240/1h', 'comments on one thread', ALL),
  /** Bounds updates, too: they open nothing, but cost the service and the code host work. */
  pushes: open('LIMIT_PUSHES', '60/1m', 'pushes'),
  /**
   * Enough for a building that runs its tests: twenty a second. Each clone, fetch and push begins
   * with a discovery.
   */
  discoveries: open('LIMIT_DISCOVERIES', '1200/1m', 'clones, fetches, pushes and files opened in a browser'),
  /**
   * Bounds guessing: a hash leads to its pull request. Who follows a link needs one look-up; who
   * guesses needs many.
   */
  lookUps: open('LIMIT_LOOKUPS', '60/1m', 'look-ups of unknown hashes'),
  /** Counted over all pseudonyms, because six reports delete all comments of one. */
  reports: open('LIMIT_REPORTS', '30/1h', 'reports and appeals', PREFIX),
  /**
   * Requests to the host in the bot's name: a tenth of what GitHub allows an account. A push causes
   * some five.
   */
  calls: open('LIMIT_CALLS', '500/1h', 'requests to the code host', PREFIX, 1),
  /**
   * GitHub's own limits of an account (docs of GitHub, "Rate limits for the REST API", "About
   * secondary rate limits"). Going beyond them can cost the account. fairness.ts decides who waits
   * first when little is left.
   */
  creations: open(
    'LIMIT_CREATIONS',
    '80/1m,500/1h',
    'new comments, issues and pull requests',
    'the bot account',
    1,
  ),
  /**
   * Limits that people have met at GitHub, which names no figure for "some endpoints have lower
   * limits" (there): cli/cli#4801, nori#149. The default is for github.com only, because another
   * host has its own rules.
   */
  openings: open('LIMIT_OPENINGS', '20/1m,150/1h', 'new issues and pull requests', 'the bot account', 1),
};

export type OpenLimitName = keyof typeof OPEN_LIMITS;
export type TriedName = OpenLimitName | keyof typeof FIXED_TRIES;
export const OPEN_LIMIT_NAMES = Object.keys(OPEN_LIMITS) as OpenLimitName[];

export type OpenLimits = Readonly<Record<OpenLimitName, readonly Limit[]>>;

const countedFor = (name: TriedName) =>
  name in OPEN_LIMITS ? OPEN_LIMITS[name as OpenLimitName].countedFor : undefined;

/** True if all networks of an IPv6 /48 are counted together. */
export function isOfPrefix(name: TriedName): boolean {
  return name === 'prefixAdmin' || name === 'foreignReads' || countedFor(name) === PREFIX;
}

/** True if each network has its own number, and those of an IPv6 /48 some more together. */
export function isWidened(name: TriedName): boolean {
  return countedFor(name) === null;
}
