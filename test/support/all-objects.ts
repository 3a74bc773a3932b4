/** Acts of tests in workerd on all Durable Objects at once. */
import { abortAllDurableObjects, reset, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { calledObjects, forgetCalls } from './called-objects.ts';

/** workerd puts an object to sleep after this time without a call. */
const AWAKE_MS = 10_000;

let areAborted = false;

/**
 * As a new version of the Worker does: objects forget what they have not stored, and start at their
 * next call.
 */
export async function restartObjects(): Promise<void> {
  areAborted = true;
  await abortAllDurableObjects();
}

/**
 * Deletes everything in objects, D1 and KV. The platform's `reset` passes over objects that are not
 * running, so they are woken first.
 * @param since when the first of them was called.
 */
export async function deleteObjects(since: number): Promise<void> {
  if (areAborted || Date.now() - since >= AWAKE_MS) await wakeObjects();
  areAborted = false;
  // What is called from here on is left to the next file.
  forgetCalls();
  await reset();
}

async function wakeObjects(): Promise<void> {
  for (const binding of Object.values(env)) {
    const kind = (binding as object).constructor.name;
    if (kind === 'D1Database') await (binding as D1Database).prepare('SELECT 1').run();
    if (kind === 'KvNamespace') await (binding as KVNamespace).get('none');
  }
  await Promise.all(calledObjects().map(({ objects, id }) => runInDurableObject(objects.get(id), () => {})));
}
