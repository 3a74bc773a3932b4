/**
 * The key of a pull request (src/secret/keyed-hash.ts): what a push needs it for, and which push is shown it.
 *
 * Anybody who knows the pr_hash can update the pull request, as the contract says. To withdraw it, or to change its
 * title or description, a push also gives the key.
 */
import type { PushRun } from './push-run.ts';
import type { PushOptions } from './receive/push-options.ts';
import { Refusal } from './reply/refusal.ts';

/** What needs it; `update` only where the operator says so. */
export type KeyUse = 'withdrawal' | 'texts' | 'update';

const SHOWN = 'The push that opened it showed the key.';
const NEEDED: Readonly<Record<KeyUse, string>> = {
  withdrawal: `To withdraw a pull request, you need its key: add -o pr-key=<key>. ${SHOWN}`,
  texts: `To change title or description, you need the key of the pull request: add -o pr-key=<key>, or leave these options out. ${SHOWN}`,
  update: `This service requires the key for an update: add -o pr-key=<key>, or push without pr-hash to open a new pull request. ${SHOWN}`,
};

type Given = Pick<PushOptions, 'prHash' | 'prKey'>;

/** @param use null: no key is needed, but a key that is given must be right. @throws Refusal */
export async function requireKey(run: PushRun, { prHash, prKey }: Given, use: KeyUse | null): Promise<void> {
  if (prHash === null) return;
  if (prKey === null && use !== null) throw missingKey(use);
  if (prKey === null || (await run.store.isPrKey(prHash, prKey))) return;
  throw new Refusal('pr-key', 'the pr-key is wrong', [
    `This is not the key of ${prHash}. Each pull request has its own key: use the one that was shown with this pr-hash.`,
  ]);
}

export function missingKey(use: KeyUse): Refusal {
  return new Refusal('pr-key', 'the pr-key is missing', [NEEDED[use]]);
}

/** Null: the push names a pull request without its key, so the key is not shown. */
export async function keyToShow(run: PushRun, given: Given, prHash: string): Promise<string | null> {
  return given.prHash === prHash && given.prKey === null ? null : run.store.prKey(prHash);
}
