/**
 * Sends what a form asks for on the way of every push: admission, limits, policy, names, fork, pull request. Only the
 * client is missing, so what it would be told is gathered.
 */
import type { Context } from 'hono';
import type { AppEnv } from '../../../env.ts';
import { ByteReader } from '../../../git/wire/byte-reader.ts';
import type { PushRequest } from '../../../git/wire/push-request.ts';
import { ZERO_OID } from '../../../git/objects/oid.ts';
import type { RepositoryName } from '../../../repository-name.ts';
import { isolate } from '../../../metrics/isolate.ts';
import type { PushHost } from '../../../push/push-host.ts';
import { countPush, type Refusal } from '../../../push/reply/refusal.ts';
import { NotedReply, type SameWork } from '../../../push/reply/reply.ts';
import { conclude, end, type Outcome, receive } from '../../../push/session.ts';
import type { PushSettings } from '../../../push/push-host.ts';
import type { BuiltChange } from '../../../edit/build-change.ts';
import { pushRun } from '../../git/git-push.ts';
import { pushHost } from '../../git/push-host.ts';

export interface InMemoryPush {
  /** That `refusePush` has asked. */
  readonly admission: PushHost['admission'];
  readonly change: BuiltChange;
  /** The branch that it is for. */
  readonly base: string;
  readonly pushOptions: readonly string[];
  /** What the form decides, and not chance: so sending it twice opens one pull request. */
  readonly names: Partial<Pick<PushSettings, 'newPrHash'>>;
}

export interface Pushed {
  readonly outcome: Outcome;
  /** Warnings and the like; and the open pull request that has the change already, if one is known. */
  readonly notes: readonly string[];
  readonly same: SameWork | null;
}

/** Counts an attempt, before anything is read for it. Answers why pushes are refused now, or null. */
export async function refusePush({ admission }: Pick<PushHost, 'admission'>): Promise<Refusal | null> {
  const refusal = await admission.enter(false, undefined, 'delay');
  if (refusal !== null) countPush(refusal, null);
  return refusal;
}

export function pushInMemory(
  c: Context<AppEnv>,
  target: RepositoryName,
  { admission, change, base, pushOptions, names }: InMemoryPush,
): Promise<Pushed> {
  // It has been asked already.
  const host = { ...pushHost(c), admission: { ...admission, enter: async () => null } };
  const refName = `refs/for/${base}`;
  return send(c, host, target, { refName, newId: change.tip, pushOptions, pack: change.pack, names });
}

export function withdrawInMemory(
  c: Context<AppEnv>,
  target: RepositoryName,
  pushOptions: readonly string[],
): Promise<Pushed> {
  const refName = 'refs/heads/main';
  return send(c, pushHost(c), target, { refName, newId: ZERO_OID, pushOptions, pack: null, names: {} });
}

interface Sent extends Pick<InMemoryPush, 'pushOptions' | 'names'> {
  readonly refName: string;
  readonly newId: string;
  readonly pack: Uint8Array | null;
}

/** Continues also if the person leaves, because it may be half done on the host. */
function send(c: Context<AppEnv>, host: PushHost, target: RepositoryName, sent: Sent): Promise<Pushed> {
  const sending = isolate.during(pushed(c, host, target, sent));
  c.executionCtx.waitUntil(sending);
  return sending;
}

async function pushed(
  c: Context<AppEnv>,
  host: PushHost,
  target: RepositoryName,
  { refName, newId, pushOptions, pack, names }: Sent,
): Promise<Pushed> {
  const reply = new NotedReply();
  const run = pushRun(c, host, reply, target, names);
  const request: PushRequest = {
    kind: 'push',
    commandList: [{ oldId: ZERO_OID, newId, refName }],
    capabilities: new Set(),
    pushOptions,
  };
  const arrival = await receive(run, request, readerOf(pack));
  const { outcome } = await conclude(run, arrival);
  // A retry is the same form, which finds the pull request by its name.
  await end(run, arrival, true);
  return { outcome, notes: reply.notes, same: reply.same };
}

function readerOf(bytes: Uint8Array | null): ByteReader {
  const chunks = bytes === null ? [] : [bytes];
  return new ByteReader({ read: async () => chunks.pop() ?? null, cancel: async () => {} });
}
