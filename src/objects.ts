/**
 * The ways to the Durable Objects: their names, and where they are to live. Cloudflare puts an
 * object near the client that asks for it first, and that may be the cron trigger, which runs
 * anywhere: so each is asked for with a hint. No types of the objects here, so that what counts or
 * hashes does not depend on all of them.
 */

/** Cloudflare's places for Durable Objects. */
export const LOCATION_HINTS = ['wnam', 'enam', 'sam', 'weur', 'eeur', 'apac', 'oc', 'afr', 'me'] as const;
type LocationHint = (typeof LOCATION_HINTS)[number];

type Branded = Rpc.DurableObjectBranded;

interface Place {
  /** The configuration refuses one that does not exist. */
  readonly LOCATION_HINT?: string;
  readonly ONE_MACHINE?: string;
}

type Bound<Binding extends string, T extends Branded> = Place & {
  readonly [B in Binding]: DurableObjectNamespace<T>;
};

/**
 * The way to the objects of a binding, which `nameOf` names. On one machine each object is a file,
 * and its name and date tell of the last call: nothing may have one there that tells who came, or
 * with what.
 */
function way<const B extends string, Args extends unknown[]>(
  binding: B,
  nameOf: (isOneMachine: boolean, ...args: Args) => string,
) {
  return <T extends Branded>(env: Bound<B, T>, ...args: Args): DurableObjectStub<T> => {
    const { LOCATION_HINT, ONE_MACHINE }: Place = env;
    const objects: DurableObjectNamespace<T> = env[binding];
    const hint = LOCATION_HINT ? { locationHint: LOCATION_HINT as LocationHint } : {};
    const name = nameOf(ONE_MACHINE !== undefined, ...args);
    return objects.get(objects.idFromName(name), hint);
  };
}

export const guardOf = way('GUARD', () => 'guard');
export const secretOf = way('SERVICE_SECRET', () => 'secret');
export const tallyOf = way('TALLY', () => 'tally');
export const delayedPushesOf = way('DELAYED_PUSHES', () => 'delayed');
/** By the name that `accountOf` gives. */
export const hostAccountNamed = way('HOST_ACCOUNTS', (_, account: string) => account);
export const feedOf = way('NOTIFICATION_FEED', (_, hostKey: string) => `feed ${hostKey}`);
export const pullRequestOf = way('PULL_REQUESTS', (_, prHash: string) => prHash);
/** By the hash of the pseudonym. */
export const identityOf = way('IDENTITIES', (_, hash: string) => hash);
/** By the hash of what is pushed. On one machine all pushes are rows of one object. */
export const pendingPushOf = way('PENDING_PUSHES', (isOne, hash: string) => (isOne ? 'pushes' : hash));
/** By a random number. On one machine all are rows of one object. */
export const spoolOf = way('SPOOL', (isOne, attempt: string) => (isOne ? 'spool' : attempt));
/**
 * By the hash of a client, whose first characters choose one of 64, so none is a bottleneck. One
 * machine has one.
 */
export const clientWindowsOf = way('CLIENT_WINDOWS', (isOne, client: string) => {
  return `clients ${isOne ? 0 : Number.parseInt(client.slice(0, 2), 16) % 64}`;
});

/**
 * Reads from an object, and once more if the platform says that this may help: after it has moved,
 * or got new code. Not for what writes, as that may have been done, and not from an object that has
 * too much to do. Source: developers.cloudflare.com/durable-objects/best-practices/error-handling.
 * @param read asks for the object each time, as the way to one that failed is broken.
 */
export async function readFrom<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    const { retryable, overloaded } = (error ?? {}) as { retryable?: unknown; overloaded?: unknown };
    if (retryable !== true || overloaded === true) throw error;
    return read();
  }
}
