/**
 * Simulates two hours in which an attacker floods one repository from many networks, each as fast
 * as the limits of one client allow, while honest people arrive who have written nothing before.
 * There is no clock, and randomness comes from fixed seeds.
 */
import { Creations } from '../../src/limits/creations.ts';
import { Recent } from '../../src/isolate/recent.ts';
import { type ClientHits, hit, hitBy, type Limit } from '../../src/limits/sliding-window.ts';
import {
  type AccountLimits,
  commentClaim,
  openingIn,
  type Claim,
  writeClaim,
} from '../../src/limits/claim.ts';
import { randomFrom } from '../support/random.ts';

const STEP_MS = 30_000;
const HOUR_MS = 60 * 60_000;
const STEPS = (2 * HOUR_MS) / STEP_MS;
/** Steps between two newcomers of a kind. */
const STEPS_PER_NEWCOMER = 4;

/** Default limits of the account at github.com. */
const ACCOUNT: AccountLimits = {
  creations: [
    { most: 80, withinMs: 60_000 },
    { most: 500, withinMs: HOUR_MS },
  ],
  openings: [
    { most: 20, withinMs: 60_000 },
    { most: 150, withinMs: HOUR_MS },
  ],
};
const TARGET: readonly Limit[] = [{ most: 100, withinMs: HOUR_MS }];
const THREAD: readonly Limit[] = [{ most: 240, withinMs: HOUR_MS }];
const ONE_CLIENT: readonly Limit[] = [
  { most: 60, withinMs: 60_000 },
  { most: 240, withinMs: HOUR_MS },
];

export type Flood = 'issues' | 'comments';

/** The key of the repository that is flooded. */
const FLOODED = 'flooded';

/** Decides whether something is created, and counts it if so. */
export type Rule = (claim: Claim, now: number) => boolean;

/** The rule of the service. */
export function fairRule(): Rule {
  const creations = new Creations();
  let id = 0;
  return (claim, now) => {
    if (creations.denial(claim, now) !== null) return false;
    creations.reserve(`${++id}`, claim, now);
    creations.forgetSurplus();
    return true;
  };
}

/**
 * The rule of the service where the App is installed in the flooded repository: its installation is
 * an account of its own.
 */
export function installedRule(): Rule {
  const [there, elsewhere] = [fairRule(), fairRule()];
  return (claim, now) => (claim.repository === FLOODED ? there : elsewhere)(claim, now);
}

/**
 * A simpler rule for comparison. A repository or thread may have anything. In the last fifth of the
 * account's limits, a network waits unless more is left than it has had itself.
 */
export function simpleRule(): Rule {
  const hits = new Map<string, readonly number[]>();
  const within = (name: string, now: number) => (hits.get(name) ?? []).filter((at) => now - at < HOUR_MS);
  return ({ by, windows }, now) => {
    // The simple rule has no window of comments.
    const wanted = windows.filter(({ kind }) => kind !== 'comments');
    const its = within(by, now).length;
    for (const { kind, key, limits } of wanted) {
      const kept = (most: number) => (kind === 'account' ? Math.min(its, Math.floor(most / 5)) : 0);
      const left = limits.map(({ most, withinMs }) => ({ most: most - kept(most), withinMs }));
      if (hit(within(`${kind} ${key}`, now), left, now).wait.waitMs > 0) return false;
    }
    for (const { kind, key } of wanted) hits.set(`${kind} ${key}`, [...within(`${kind} ${key}`, now), now]);
    hits.set(by, [...within(by, now), now]);
    return true;
  };
}

/**
 * Share of newcomers, in percent, that are served when they arrive, and creations of the attacker
 * in an hour.
 */
export interface Outcome {
  readonly same: number;
  readonly other: number;
  /**
   * People who return to a thread of the flooded repository in which they have commented before.
   */
  readonly partaking: number;
  readonly flood: number;
}

const issue = (by: string, repository: string): Claim =>
  openingIn({ key: repository, limits: TARGET }, ACCOUNT, writeClaim(by));
const comment = (by: string, repository: string, thread: string): Claim =>
  commentClaim(by, repository, { key: `${repository}#${thread}`, limits: THREAD }, ACCOUNT);

export function simulate(flood: Flood, networks: number, rule: Rule): Outcome {
  const random = randomFrom(networks + flood.length);
  const clients: ClientHits = new Recent({ most: 10_000, lifeMs: HOUR_MS });
  const served = { same: 0, other: 0, partaking: 0 };
  let created = 0;
  const attack = (network: string, now: number): void => {
    // Tries as often as one client may in this time, or until it is refused.
    for (let time = 0; time < 30; time++) {
      if (hitBy(network, clients, ONE_CLIENT, now).waitMs > 0) return;
      const thread = `${Math.floor(random() * 50)}`;
      if (!rule(flood === 'issues' ? issue(network, FLOODED) : comment(network, FLOODED, thread), now))
        return;
      created += 1;
    }
  };
  for (let step = 0; step < STEPS; step++) {
    const now = 1_800_000_000_000 + step * STEP_MS;
    const write = (by: string, repository: string): Claim =>
      flood === 'issues'
        ? issue(`${by} ${step}`, repository)
        : comment(`${by} ${step}`, repository, `${step}`);
    const arrivals: { readonly at: number; readonly act: () => void }[] = Array.from(
      { length: networks },
      (_, network) => ({ at: random(), act: () => attack(`attacker ${network}`, now) }),
    );
    if (step % STEPS_PER_NEWCOMER === 0) {
      const partaking = { ...comment(`partaking ${step}`, FLOODED, `${step}`), takesPart: true };
      const comes = (who: keyof typeof served, claim: Claim) =>
        arrivals.push({ at: random(), act: () => void (served[who] += rule(claim, now) ? 1 : 0) });
      comes('same', write('same', FLOODED));
      comes('other', write('other', 'another'));
      comes('partaking', partaking);
    }
    for (const { act } of arrivals.toSorted((a, b) => a.at - b.at)) act();
  }
  return {
    same: percent(served.same),
    other: percent(served.other),
    partaking: percent(served.partaking),
    flood: Math.round(created / 2),
  };
}

function percent(served: number): number {
  return Math.round((100 * served * STEPS_PER_NEWCOMER) / STEPS);
}
