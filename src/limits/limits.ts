/**
 * Every limit, with its reason: the contract's (section 8), or a variable, so generous that no
 * person notices it.
 */
import type { Limit } from './sliding-window.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/**
 * Fixed by the contract, section 8. Each opens work for somebody else's maintainers. Updates do not
 * count.
 */
export const PULL_REQUESTS = { most: 5, withinMs: HOUR_MS, untilQuarter: true } as const satisfies Limit;

/**
 * Of an IPv6 /48, which a free tunnel gives to anybody. Enough for four clients that share an
 * office or a campus.
 */
export const PREFIX_PULL_REQUESTS = {
  most: 20,
  withinMs: HOUR_MS,
  untilQuarter: true,
} as const satisfies Limit;

/**
 * Of all circuits of an onion service: four must not shut it for an hour. Of many: docs/onion.md.
 */
export const ONION_PULL_REQUESTS = {
  most: 100,
  withinMs: HOUR_MS,
  untilQuarter: true,
} as const satisfies Limit;

/**
 * Repositories forked for one client or IPv6 /48: a refused push leaves its fork. Five pull
 * requests an hour need five.
 */
export const FORKS = { most: 10, withinMs: HOUR_MS, untilQuarter: true } as const satisfies Limit;

/**
 * What the pages of all other sites may push and post for one network, together. Any page that
 * somebody has open can do it, and would read from the answers what the person has had of their
 * limits.
 */
export const FOREIGN_ORIGINS = { most: 2, withinMs: HOUR_MS, untilQuarter: true } as const satisfies Limit;

const PREFIX = 'an IPv4 address or an IPv6 /48';
const ALL = 'all clients together';

/** What is tried, also if it fails. */
export const FIXED_TRIES = {
  /** Of the contract, as is that of rollbacks. Guessing the password takes many attempts. */
  admin: [{ most: 10, withinMs: MINUTE_MS }],
  /** Wrong passwords, and tokens, of an IPv6 /48: its 65,536 networks have ten a minute each. */
  prefixAdmin: [{ most: 40, withinMs: MINUTE_MS }],
  /** Each costs the code host many requests. */
  rollback: [{ most: 5, withinMs: MINUTE_MS }],
  /** Also those that fail. They count in all other limits, too. */
  foreign: [FOREIGN_ORIGINS],
} as const satisfies Record<string, readonly Limit[]>;

/**
 * @param usual in the form of the variable.
 * @param what is counted, for /docs and for the answer that refuses it.
 * @param countedFor who has it together; null: each client has its own.
 * @param longestHours of any window.
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

/** Left open by the contract. */
export const OPEN_LIMITS = {
  /** Nobody types one comment a second for a minute, nor 240 in an hour; a script does. */
  comments: open('LIMIT_COMMENTS', '60/1m,240/1h', 'comments and issues'),
  /**
   * A busy day of a large project has fewer. A repository may lower this and the next one in its
   * `.gitveil.yml`.
   */
  target: open('LIMIT_TARGET', '100/1h', 'pull requests and issues opened in one repository', ALL),
  /** A heated discussion has four comments a minute. */
  thread: open('LIMIT_THREAD', '240/1h', 'comments on one thread', ALL),
  /** Updates are not limited otherwise, and each costs the service and the code host work. */
  pushes: open('LIMIT_PUSHES', '60/1m', 'pushes'),
  /**
   * Each clone, fetch and push begins with one: twenty a second are enough for a building that runs
   * its tests.
   */
  discoveries: open('LIMIT_DISCOVERIES', '1200/1m', 'clones, fetches, pushes and files opened in a browser'),
  /**
   * A hash is the key to its pull request. Who follows a link needs one look-up; who guesses needs
   * many.
   */
  lookUps: open('LIMIT_LOOKUPS', '60/1m', 'look-ups of unknown hashes'),
  /** Over all pseudonyms: six reports delete all comments of a pseudonym. */
  reports: open('LIMIT_REPORTS', '30/1h', 'reports and appeals', PREFIX),
  /**
   * Whatever asks the host in the bot's name: a tenth of what GitHub allows an account. A push
   * causes some five.
   */
  calls: open('LIMIT_CALLS', '500/1h', 'requests to the code host', PREFIX, 1),
  /**
   * GitHub's for an account (docs of GitHub, "Rate limits for the REST API", "About secondary rate
   * limits"). Going beyond them can cost the account. Who waits first when little is left:
   * fairness.ts.
   */
  creations: open(
    'LIMIT_CREATIONS',
    '80/1m,500/1h',
    'new comments, issues and pull requests',
    'the bot account',
    1,
  ),
  /**
   * What people have met at GitHub, which names no figure for "some endpoints have lower limits"
   * (there): cli/cli#4801, nori#149. By default at github.com only, as another host has its own
   * rules.
   */
  openings: open('LIMIT_OPENINGS', '20/1m,150/1h', 'new issues and pull requests', 'the bot account', 1),
};

export type OpenLimitName = keyof typeof OPEN_LIMITS;
export type TriedName = OpenLimitName | keyof typeof FIXED_TRIES;
export const OPEN_LIMIT_NAMES = Object.keys(OPEN_LIMITS) as OpenLimitName[];

export type OpenLimits = Readonly<Record<OpenLimitName, readonly Limit[]>>;

const countedFor = (name: TriedName) =>
  name in OPEN_LIMITS ? OPEN_LIMITS[name as OpenLimitName].countedFor : undefined;

/** Whether all networks of an IPv6 /48 are counted together. */
export function isOfPrefix(name: TriedName): boolean {
  return name === 'prefixAdmin' || countedFor(name) === PREFIX;
}

/** Whether each network has its own number, and those of an IPv6 /48 have some more together. */
export function isWidened(name: TriedName): boolean {
  return countedFor(name) === null;
}
