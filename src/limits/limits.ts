/**
 * Every limit on how often something may be done, with its reason. The contract fixes some (section 8). The others are
 * variables, and generous: a person who works, or a discussion behind one address, must not notice them.
 */
import type { Limit } from './sliding-window.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Fixed by the contract, section 8. Each opens work for somebody else's maintainers. Updates do not count. */
export const PULL_REQUESTS = { most: 5, withinMs: HOUR_MS } as const satisfies Limit;

/**
 * For all networks of one IPv6 /48 together, which a free tunnel gives to anybody: each of its 65,536 networks is a
 * client. Enough for four clients that share an office or a campus.
 */
export const SITE_PULL_REQUESTS = { most: 20, withinMs: HOUR_MS } as const satisfies Limit;

/**
 * Repositories that are forked for one client, an IPv6 /48 as a whole, if they were not known to be: a push that the
 * host then refuses leaves its fork behind. Five pull requests an hour need five.
 */
export const FORKS = { most: 10, withinMs: HOUR_MS } as const satisfies Limit;

/** What is tried, also if it fails. */
export const FIXED_TRIES = {
  /** Of the contract, as is that of rollbacks. Guessing the password takes many attempts. */
  admin: { most: 10, withinMs: MINUTE_MS },
  /** Wrong passwords, and tokens, of an IPv6 /48: its 65,536 networks have ten a minute each. */
  siteAdmin: { most: 40, withinMs: MINUTE_MS },
  /** Each costs the code host many requests. */
  rollback: { most: 5, withinMs: MINUTE_MS },
} as const satisfies Record<string, Limit>;

export interface OpenLimit {
  readonly variable: `LIMIT_${string}`;
  /** In the form of the variable. */
  readonly usual: string;
  /** The longest window that can be set; without it, a day. */
  readonly longestHours?: number;
  /** What is counted, for /docs and for the answer that refuses it. */
  readonly what: string;
  readonly countedFor:
    'client' | 'an IPv4 address or an IPv6 /48' | 'all clients together' | 'the bot account';
}

/** Left open by the contract. */
export const OPEN_LIMITS = {
  /**
   * Nobody types one comment a second for a minute, nor 240 in an hour; a script does. The bot account may create some
   * 500 an hour for everybody (docs of GitHub, "Rate limits for the REST API").
   */
  comments: {
    variable: 'LIMIT_COMMENTS',
    usual: '60/1m,240/1h',
    what: 'comments and issues',
    countedFor: 'client',
  },
  /** A busy day of a large project has fewer. A repository may lower this and the next one in its `.gitveil.yml`. */
  target: {
    variable: 'LIMIT_TARGET',
    usual: '100/1h',
    what: 'pull requests and issues opened in one repository',
    countedFor: 'all clients together',
  },
  /** A heated discussion has four comments a minute. */
  thread: {
    variable: 'LIMIT_THREAD',
    usual: '240/1h',
    what: 'comments on one thread',
    countedFor: 'all clients together',
  },
  /** Updates are not limited otherwise, and each costs the service and the code host work. */
  pushes: {
    variable: 'LIMIT_PUSHES',
    usual: '60/1m',
    what: 'pushes',
    countedFor: 'client',
  },
  /** Each clone, fetch and push begins with one: twenty a second are enough for a building that runs its tests. */
  discoveries: {
    variable: 'LIMIT_DISCOVERIES',
    usual: '1200/1m',
    what: 'clones, fetches, pushes and files opened in a browser',
    countedFor: 'client',
  },
  /** A hash is the key to its pull request. Who follows a link needs one look-up; who guesses needs many. */
  lookUps: {
    variable: 'LIMIT_LOOKUPS',
    usual: '60/1m',
    what: 'look-ups of unknown hashes',
    countedFor: 'client',
  },
  /**
   * Over all pseudonyms. Six reports delete all comments of a pseudonym, so the 65,536 networks of a /48, which anybody
   * can get, count as one.
   */
  reports: {
    variable: 'LIMIT_REPORTS',
    usual: '30/1h',
    what: 'reports and appeals',
    countedFor: 'an IPv4 address or an IPv6 /48',
  },
  /**
   * Whatever asks the host in the bot's name: a tenth of what GitHub allows an account in an hour. A push causes some
   * five.
   */
  calls: {
    variable: 'LIMIT_CALLS',
    usual: '500/1h',
    longestHours: 1,
    what: 'requests to the code host',
    countedFor: 'an IPv4 address or an IPv6 /48',
  },
  /** Look-ups of policies at the code host. Made-up names must not use up the bot's 5,000 requests an hour. */
  badges: {
    variable: 'LIMIT_BADGES',
    usual: '20/1m',
    what: 'badges of repositories not seen lately',
    countedFor: 'all clients together',
  },
  /**
   * GitHub's for an account: about 80 a minute and 500 an hour (docs of GitHub, "Rate limits for the REST API", "About
   * secondary rate limits"). Going beyond them can cost the account. Who waits first when little is left: fairness.ts.
   */
  creations: {
    variable: 'LIMIT_CREATIONS',
    usual: '80/1m,500/1h',
    longestHours: 1,
    what: 'new comments, issues and pull requests',
    countedFor: 'the bot account',
  },
} as const satisfies Record<string, OpenLimit>;

export type OpenLimitName = keyof typeof OPEN_LIMITS;
export const OPEN_LIMIT_NAMES = Object.keys(OPEN_LIMITS) as OpenLimitName[];

/** The limits of this service. */
export type OpenLimits = Readonly<Record<OpenLimitName, readonly Limit[]>>;
