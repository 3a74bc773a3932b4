/**
 * Keyed hashes by which a repeated push is recognised. Without the key, nobody can guess them, or learn from them what
 * was pushed or by whom.
 */
import { recordName } from '../config/hosts.ts';
import type { NewDelayedPush } from '../durable/delayed-pushes/delayed-push.ts';
import type { Oid } from '../git/objects/oid.ts';
import type { RepositoryName } from '../repository-name.ts';
import { keyedHash } from '../secret/keyed-hash.ts';
import type { PushRun } from './push-run.ts';
import type { Received } from './receive/receive.ts';

const WORK_HASH_LENGTH = 16;

/** What is pushed, and how: all of a push but its pack. */
export type Pushed = Pick<Received, 'taken' | 'options'>;

/** Identifies a push while it is published, and its place in the limit: what it opens or changes, without its texts. */
export async function pushHashOf(run: PushRun, { taken, options }: Pushed): Promise<string> {
  const { newId, refName } = taken.command;
  // A ref name contains no space.
  const parts = [placeOf(run, run.target), newId, refName, options.base ?? '', options.prHash ?? ''];
  return keyedHash(await run.host.secret(), 'push', parts.join(' '));
}

/**
 * Identify a delayed push: `push` is what is pushed; `same` adds texts and options, but not the time of publication.
 */
export type DelayedHashes = Pick<NewDelayedPush, 'push' | 'same'>;

export async function delayedHashesOf(run: PushRun, { taken, options }: Pushed): Promise<DelayedHashes> {
  const { title, description, base, squash, draft, signOff, prHash, ai, issue } = options;
  const { newId, refName } = taken.command;
  const secret = await run.host.secret();
  const push = [placeOf(run, run.target), newId, refName, prHash];
  const hashOf = (parts: unknown[]): string => keyedHash(secret, 'delayed', JSON.stringify(parts));
  const others = [title, description, base, squash, draft, signOff, ai, issue];
  return { push: hashOf(push), same: hashOf([...push, ...others]) };
}

/** Identifies commits, without author and dates, together with the repository that they are proposed to. Many are stored. */
export async function workHashOf(run: PushRun, repository: RepositoryName, undatedTip: Oid): Promise<string> {
  const hash = keyedHash(await run.host.secret(), 'work', `${placeOf(run, repository)} ${undatedTip}`);
  return hash.slice(0, WORK_HASH_LENGTH);
}

function placeOf({ host }: PushRun, repository: RepositoryName): string {
  return recordName({ key: host.hostKey }, repository).toLowerCase();
}
