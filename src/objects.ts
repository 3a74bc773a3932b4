/**
 * The ways to the Durable Objects: their names, and where they are to live.
 *
 * Each is asked for with the hint of the place: Cloudflare puts an object near the client that asks for it first, and
 * that may be the cron trigger, which runs anywhere, or a request near a person. On one machine the hint means nothing.
 *
 * No types of the objects here, so that what counts or hashes does not depend on all of them.
 */

/** Cloudflare's places for Durable Objects. */
export const LOCATION_HINTS = ['wnam', 'enam', 'sam', 'weur', 'eeur', 'apac', 'oc', 'afr', 'me'] as const;
export type LocationHint = (typeof LOCATION_HINTS)[number];

/** Enough that none of them is a bottleneck. */
const WINDOW_OBJECTS = 64;

type Branded = Rpc.DurableObjectBranded;

interface Place {
  /** The configuration refuses one that does not exist. */
  readonly LOCATION_HINT?: string;
  readonly ONE_MACHINE?: string;
}

type Bound<Binding extends string, T extends Branded> = Place & {
  readonly [B in Binding]: DurableObjectNamespace<T>;
};

function named<T extends Branded>(
  { LOCATION_HINT }: Place,
  objects: DurableObjectNamespace<T>,
  name: string,
): DurableObjectStub<T> {
  const hint = LOCATION_HINT ? { locationHint: LOCATION_HINT as LocationHint } : {};
  return objects.get(objects.idFromName(name), hint);
}

/**
 * There, each object is a file. Its name follows from the object's, and its date is that of the last call. So nothing
 * may have an object of its own that tells who came, or with what.
 */
const isOneMachine = ({ ONE_MACHINE }: Place): boolean => ONE_MACHINE !== undefined;

export function guardOf<T extends Branded>(env: Bound<'GUARD', T>) {
  return named(env, env.GUARD, 'guard');
}

/** @param account as `accountOf` names it. */
export function hostAccountNamed<T extends Branded>(env: Bound<'HOST_ACCOUNTS', T>, account: string) {
  return named(env, env.HOST_ACCOUNTS, account);
}

export function feedOf<T extends Branded>(env: Bound<'NOTIFICATION_FEED', T>, hostKey: string) {
  return named(env, env.NOTIFICATION_FEED, `feed ${hostKey}`);
}

export function secretOf<T extends Branded>(env: Bound<'SERVICE_SECRET', T>) {
  return named(env, env.SERVICE_SECRET, 'secret');
}

export function tallyOf<T extends Branded>(env: Bound<'TALLY', T>) {
  return named(env, env.TALLY, 'tally');
}

export function pullRequestOf<T extends Branded>(env: Bound<'PULL_REQUESTS', T>, prHash: string) {
  return named(env, env.PULL_REQUESTS, prHash);
}

/** @param hash of the pseudonym. */
export function identityOf<T extends Branded>(env: Bound<'IDENTITIES', T>, hash: string) {
  return named(env, env.IDENTITIES, hash);
}

/** @param hash of what is pushed. On one machine all pushes are rows of one object. */
export function pendingPushOf<T extends Branded>(env: Bound<'PENDING_PUSHES', T>, hash: string) {
  return named(env, env.PENDING_PUSHES, isOneMachine(env) ? 'pushes' : hash);
}

/** @param client hash of a client, whose first characters choose the object. One machine has a single one. */
export function clientWindowsOf<T extends Branded>(env: Bound<'CLIENT_WINDOWS', T>, client: string) {
  const part = isOneMachine(env) ? 0 : Number.parseInt(client.slice(0, 2), 16) % WINDOW_OBJECTS;
  return named(env, env.CLIENT_WINDOWS, `clients ${part}`);
}

export function delayedPushesOf<T extends Branded>(env: Bound<'DELAYED_PUSHES', T>) {
  return named(env, env.DELAYED_PUSHES, 'delayed');
}

/** @param attempt random. On one machine all are rows of one object. */
export function spoolOf<T extends Branded>(env: Bound<'SPOOL', T>, attempt: string) {
  return named(env, env.SPOOL, isOneMachine(env) ? 'spool' : attempt);
}
