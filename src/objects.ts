/**
 * Gives the stubs of the Durable Objects: their names, and where they are to live. Cloudflare
 * creates an object near the first caller, which may be the cron trigger, which runs anywhere: so
 * each is asked for with the location hint that the operator has set, if any. The types of the
 * objects are not imported here, so that code which only counts or hashes does not depend on all of
 * them.
 */

/** Cloudflare's regions for Durable Objects. */
export const LOCATION_HINTS = ['wnam', 'enam', 'sam', 'weur', 'eeur', 'apac', 'oc', 'afr', 'me'] as const;
type LocationHint = (typeof LOCATION_HINTS)[number];

type Branded = Rpc.DurableObjectBranded;

interface Placement {
  /** One of LOCATION_HINTS, which the configuration checks. */
  readonly LOCATION_HINT?: string;
  readonly ONE_MACHINE?: string;
}

type Bound<Binding extends string, T extends Branded> = Placement & {
  readonly [B in Binding]: DurableObjectNamespace<T>;
};

/**
 * Makes the function that gives the stub of a binding's object, by the name that `nameOf` makes. On
 * one machine each object is a file, whose date shows when it was last used. So `nameOf` must put
 * everything that would tell who came, or with what, into one object there.
 */
function stubOf<const B extends string, Args extends unknown[]>(
  binding: B,
  nameOf: (isOneMachine: boolean, ...args: Args) => string,
) {
  return <T extends Branded>(env: Bound<B, T>, ...args: Args): DurableObjectStub<T> => {
    const { LOCATION_HINT, ONE_MACHINE }: Placement = env;
    const objects: DurableObjectNamespace<T> = env[binding];
    const hint = LOCATION_HINT ? { locationHint: LOCATION_HINT as LocationHint } : {};
    const name = nameOf(ONE_MACHINE !== undefined, ...args);
    return objects.get(objects.idFromName(name), hint);
  };
}

export const guardOf = stubOf('GUARD', () => 'guard');
export const secretOf = stubOf('SERVICE_SECRET', () => 'secret');
export const tallyOf = stubOf('TALLY', () => 'tally');
export const delayedPushesOf = stubOf('DELAYED_PUSHES', () => 'delayed');
/** @param account the name that `accountOf` gives. */
export const hostAccountNamed = stubOf('HOST_ACCOUNTS', (_, account: string) => account);
export const feedOf = stubOf('NOTIFICATION_FEED', (_, hostKey: string) => `feed ${hostKey}`);
export const pullRequestOf = stubOf('PULL_REQUESTS', (_, prHash: string) => prHash);
/** @param hash that of the pseudonym. */
export const identityOf = stubOf('IDENTITIES', (_, hash: string) => hash);
/**
 * @param hash is keyed, of the client's network and of everything that is pushed. On one machine,
 * all pushes share one object.
 */
export const pendingPushOf = stubOf('PENDING_PUSHES', (isOne, hash: string) => (isOne ? 'pushes' : hash));
/** @param attempt a random name. On one machine, all attempts share one object. */
export const spoolOf = stubOf('SPOOL', (isOne, attempt: string) => (isOne ? 'spool' : attempt));
/**
 * @param client a keyed hash, whose beginning chooses one of 64 objects, so that none is a
 * bottleneck. On one machine there is one.
 */
export const clientWindowsOf = stubOf('CLIENT_WINDOWS', (isOne, client: string) => {
  return `clients ${isOne ? 0 : Number.parseInt(client.slice(0, 2), 16) % 64}`;
});

/**
 * Reads from an object, and once more if the platform says that this may help: when the object has
 * moved or got new code, but not when it is overloaded. A write must not be repeated so, because it
 * may have been done. Source:
 * developers.cloudflare.com/durable-objects/best-practices/error-handling.
 * @param read must ask for the stub anew each time, because a stub that has failed stays broken.
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
