/**
 * Sets a Worker's clock back by CLOCK_BEHIND_MS, for a state of another day (earlier-state.ts).
 * Alarms and KV keep the platform's time, so the times that they get and return are moved.
 */
import { DurableObject, env } from 'cloudflare:workers';

const bound = env as unknown as { readonly CLOCK_BEHIND_MS: string; readonly DELAYED_KEYS: KVNamespace };
const behindMs = Number(bound.CLOCK_BEHIND_MS);
const RealDate = Date;

class SetBackDate extends RealDate {
  constructor(...given: unknown[]) {
    super(...((given.length === 0 ? [SetBackDate.now()] : given) as [number]));
  }

  static override now(): number {
    return RealDate.now() - behindMs;
  }
}
globalThis.Date = SetBackDate as unknown as DateConstructor;

type Method = (...values: unknown[]) => unknown;

/** Changes a method of this instance, and of all others of its kind in the isolate. */
function change(instance: object, name: string, changed: (real: Method, values: unknown[]) => unknown): void {
  const prototype = Object.getPrototypeOf(instance) as Record<string, Method>;
  const real = prototype[name] as Method;
  prototype[name] = function (this: unknown, ...values: unknown[]) {
    return changed((...others) => Reflect.apply(real, this, others), values);
  };
}

change(bound.DELAYED_KEYS, 'put', (put, [key, value, options]) => {
  const { expiration, ...others } = (options ?? {}) as KVNamespacePutOptions;
  const moved = expiration !== undefined && { expiration: expiration + Math.round(behindMs / 1000) };
  return put(key, value, { ...others, ...moved });
});

let areAlarmsMoved = false;

/** In place of DurableObject, because no storage can be reached before there is an object. */
export class SetBackObject extends DurableObject {
  constructor(ctx: DurableObjectState, bindings: Cloudflare.Env) {
    super(ctx, bindings);
    if (areAlarmsMoved) return;
    areAlarmsMoved = true;
    const { storage } = ctx;
    change(storage, 'setAlarm', (setAlarm, [at, options]) => setAlarm(Number(at) + behindMs, options));
    change(storage, 'getAlarm', async (getAlarm, values) => {
      const at = (await getAlarm(...values)) as number | null;
      return at === null ? null : at - behindMs;
    });
  }
}
