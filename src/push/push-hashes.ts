/**
 * Keyed hashes by which a push is found again: the same for one that is repeated, and nothing that can be guessed. None
 * of them tells what was pushed, or by whom.
 */
import { recordName } from '../config/hosts.ts';
import type { HeldView } from '../durable/held-pushes/held-push-record.ts';
import type { Oid } from '../git/objects/oid.ts';
import type { RepositoryName } from '../repository-name.ts';
import { keyedHash } from '../secret/keyed-hash.ts';
import type { PushRun } from './push-run.ts';
import type { Received } from './receive/receive.ts';

/** What is pushed, and how: all of a push but its pack. */
export type Pushed = Pick<Received, 'taken' | 'options'>;

/** Of a push while it is published, and of the place that it takes: what it opens or changes, not its texts. */
export async function pushHashOf(run: PushRun, { taken, options }: Pushed): Promise<string> {
  const { newId, refName } = taken.command;
  // A ref name contains no space.
  const parts = [placeOf(run, run.target), newId, refName, options.base ?? '', options.prHash ?? ''];
  return keyedHash(await run.host.secret(), 'push', parts.join(' '));
}

/** Of a push that is held: what is pushed, and that with its texts and options, whenever it is to be published. */
export type HeldHashes = Pick<HeldView, 'same'> & { readonly push: string };

export async function heldHashesOf(run: PushRun, { taken, options }: Pushed): Promise<HeldHashes> {
  const { title, description, base, squash, draft, signOff } = options;
  const { newId, refName } = taken.command;
  const secret = await run.host.secret();
  const push = [placeOf(run, run.target), newId, refName];
  const hashOf = (parts: unknown[]): string => keyedHash(secret, 'held', JSON.stringify(parts));
  return { push: hashOf(push), same: hashOf([...push, title, description, base, squash, draft, signOff]) };
}

/** Of the commits without their author and dates, and of where they are proposed. */
export async function workHashOf(run: PushRun, repository: RepositoryName, undatedTip: Oid): Promise<string> {
  return keyedHash(await run.host.secret(), 'work', `${placeOf(run, repository)} ${undatedTip}`);
}

function placeOf({ host }: PushRun, repository: RepositoryName): string {
  return recordName({ key: host.hostKey }, repository).toLowerCase();
}
