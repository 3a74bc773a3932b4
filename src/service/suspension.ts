/**
 * Reads the panic switch and the problems of the bot account from a copy that is at most two
 * seconds old, so that the guard is free for pushes. Sets the switch; on one machine, also if it
 * cannot be stored.
 */
import { waitUntil } from 'cloudflare:workers';
import { type HostConfig, hostNameOf } from '../config/hosts.ts';
import type { OperatorCredential, GuardStatus, PanicScope } from '../durable/guard/guard.ts';
import { accountOf } from '../host-access.ts';
import type { Env } from '../env.ts';
import { FreshCopy } from '../isolate/fresh-copy.ts';
import {
  heldSwitch,
  heldSwitches,
  holdSwitch,
  releaseSwitch,
  type Switch,
} from '../isolate/held-switches.ts';
import { onForget } from '../isolate/recent.ts';
import type { Logger } from '../log.ts';
import { guardOf, readFrom } from '../objects.ts';

const copy = new FreshCopy<GuardStatus>();
onForget(() => copy.forget());

/** Reads the copy. Rejects if the guard must be asked and does not answer. */
export function suspensionOf(env: Env): Promise<GuardStatus> {
  return copy.read(() => readFrom(() => guardOf(env).status()), waitUntil);
}

export function botProblems({ accountProblems }: GuardStatus, hosts: readonly HostConfig[]) {
  return hosts.flatMap((host) =>
    (accountProblems[accountOf(host)] ?? []).map((problem) => ({ hostName: hostNameOf(host), problem })),
  );
}

/** Asks the switch that is held here, else the copy. Rejects as `suspensionOf`. */
export async function arePushesSuspended(env: Env): Promise<boolean> {
  return heldSwitch('pushes') ?? (await suspensionOf(env)).panicMode;
}

/**
 * Sets the panic switch. Other isolates notice it within two seconds. On one machine it works in
 * memory first, without the disk, which may be full. Null: the credential is not valid. Rejects if
 * it is not set.
 */
export async function setPanic(
  env: Env,
  active: boolean,
  scope: PanicScope,
  credential: OperatorCredential,
): Promise<{ readonly isStored: boolean } | null> {
  const guard = guardOf(env);
  const store = () => guard.setPanic(active, credential, scope).finally(() => copy.forget());
  if (env.ONE_MACHINE === undefined) return (await store()) ? { isStored: true } : null;
  const action = active ? 'activate-panic' : 'deactivate-panic';
  if (credential.kind === 'token' && !(await guard.acceptsUnstored(credential.hash, action))) return null;
  const switches: readonly Switch[] = scope === 'all' ? ['pushes', 'writes'] : [scope];
  for (const which of switches) holdSwitch(which, active);
  copy.forget();
  // The answer says whether it was stored; the switch in memory holds in any case.
  const isStored = await store().catch(() => false);
  if (isStored) for (const which of switches) releaseSwitch(which, active);
  return { isStored };
}

/** Stores the switches that could not be stored before. Never rejects. */
export async function storeHeldSwitches(env: Env, logger: Logger): Promise<void> {
  for (const [which, active] of heldSwitches()) {
    try {
      await guardOf(env).setPanic(active, { kind: 'password' }, which);
      releaseSwitch(which, active);
    } catch (error) {
      logger.error('the panic switch is not stored yet', { step: which, error });
    }
  }
}
