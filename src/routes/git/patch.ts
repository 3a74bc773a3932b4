/**
 * Makes a push of a patch: it reads at the code host what the patch changes, and builds the commits
 * here. That counts as an attempt to push and as a look at the host before anything is read.
 * Proved by test/e2e/push/patch.test.ts.
 */
import { createHash } from 'node:crypto';
import type { Context } from 'hono';
import type { AppEnv } from '../../env.ts';
import type { Config } from '../../config/config.ts';
import type { CommitIdentity } from '../../git/objects/commit.ts';
import { ZERO_OID } from '../../git/objects/oid.ts';
import { outgoingPack } from '../../git/pack/outgoing-pack.ts';
import { ByteReader, sourceFrom } from '../../git/wire/byte-reader.ts';
import { type PushRequest, unreadRequest } from '../../git/wire/push-request.ts';
import { branchName } from '../../git/wire/ref-advertisement.ts';
import { followMoves } from '../../host/redirect.ts';
import { systemClock } from '../../isolate/clock.ts';
import type { MemoryHold } from '../../isolate/memory-budget.ts';
import { isPlainDiff, type PatchMail, readMails } from '../../patch/mails.ts';
import type { WriteEntry } from '../../patch/new-entries.ts';
import { malformed, PatchError } from '../../patch/patch-error.ts';
import { type Base, type Series, seriesOn } from '../../patch/series.ts';
import { isForReview, type MaybeReviewed } from '../../push/delay/keep.ts';
import { refusalOf } from '../../push/judge/findings.ts';
import { missingBase } from '../../push/judge/base-branch.ts';
import { findPullRequest } from '../../push/judge/questions.ts';
import type { PushStore } from '../../push/push-host.ts';
import type { PushRun } from '../../push/push-run.ts';
import { faultsIn, parsePushOptions, type PushOptions } from '../../push/receive/push-options.ts';
import { HostSteps, Refusal, refusedOptions } from '../../push/reply/refusal.ts';
import { pushHost } from '../../service/open-push.ts';
import { ClientPushLimits } from '../../service/push-limits.ts';
import { ServicePushStore } from '../../service/push-store.ts';
import type { PushSpool } from '../../spool/spool.ts';
import { BodyBytes } from '../../streams/body-bytes.ts';
import { heldReads, readCommit, type ReadObjects } from '../../upstream/tree-reader.ts';
import { defaultBranchOf, discoveredRefs } from '../../upstream/upstream-refs.ts';
import type { RepositoryName } from '../../words/repository-name.ts';
import { announcedBytes } from './git-http.ts';
import { refuseTooMany } from '../request/limits.ts';
import { hostScopeOf } from '../request/scope.ts';
import type { Door, ReadPush } from './door.ts';
import { LinesReply } from './door.ts';

const MAX_PATCH_BYTES = 10 * 1024 * 1024;
const HEADS = 'refs/heads/';
/** A file of upstream in memory: it is compared where it is. */
const FILE_COPIES = 1;
const NO_CAPABILITIES: ReadonlySet<string> = new Set();

/** @param people whose names are searched for in a diff, which has no author. */
export function patchDoor(
  c: Context<AppEnv>,
  target: RepositoryName,
  people: readonly CommitIdentity[],
): Door {
  return {
    name: 'patch',
    maxBytes: MAX_PATCH_BYTES,
    tooLarge: 'The patch is over 10 MB. Push it, or send a bundle.',
    asksLimits: true,
    read: (reader, pushOptions, memory) =>
      readPatch(c, target, people, reader, pushOptions, memory).catch((error: unknown) => ({
        request: unreadRequest(
          error instanceof PatchError ? new Refusal('patch', error.reason, error.lines) : error,
          pushOptions,
        ),
      })),
  };
}

async function readPatch(
  c: Context<AppEnv>,
  target: RepositoryName,
  people: readonly CommitIdentity[],
  reader: ByteReader,
  pushOptions: readonly string[],
  memory: MemoryHold,
): Promise<ReadPush> {
  const parsed = parsePushOptions(pushOptions);
  const { options } = parsed;
  await letIn(c, options);
  // A misspelt option may be one with which the host is to learn nothing now.
  const faults = refusalOf(refusedOptions(faultsIn(parsed)));
  if (faults !== null) throw faults;
  if (options.withdraw) return { request: asPush([], pushOptions) };
  const store = new ServicePushStore(hostScopeOf(c), memory);
  await refuseWaiting({ store, settings: c.var.config, target }, options);
  const expected = Math.min(announcedBytes(c) || MAX_PATCH_BYTES, MAX_PATCH_BYTES);
  const patch = await BodyBytes.of(reader, memory, expected);
  const { bytes } = patch;
  const isDiff = isPlainDiff(bytes);
  const mails = isDiff ? [{ ...mailOf(bytes, options), people }] : readMails(bytes);
  const content = createHash('sha1').update(bytes).digest('hex');
  const host = pushHost(hostScopeOf(c), { memory });
  const at = { host, steps: new HostSteps(systemClock, new LinesReply(), host.transport.hostName) };
  const named = options.base ?? (await baseOfUpdate(at, store, target, options));
  const { pack, discard, tip, branch } = await packOf(store.openSpool(), (write) =>
    onBase(at, target, named, (base, read) => seriesOn(base, bytes, mails, { read, memory, write })),
  );
  patch.free();
  const command = { oldId: ZERO_OID, newId: tip, refName: `refs/for/${branch}` };
  // Title and description of a diff stand in its commit.
  const { used = [], left = [] } = Object.groupBy(pushOptions, (option) =>
    isDiff && /^(?:title|description)=/.test(option) ? 'used' : 'left',
  );
  return { request: asPush([command], left), pack: new ByteReader(pack), discard, content, used };
}

/**
 * Keeps the entries that are made in a spool, because their number stands in front of a pack.
 * @param make writes them.
 */
async function packOf<T extends Series>(spool: PushSpool, make: (write: WriteEntry) => Promise<T>) {
  try {
    const made = await make((pieces) => spool.write(pieces));
    await spool.close();
    const pack = sourceFrom(outgoingPack(0, [], made.entryCount, spool.read()));
    return { ...made, pack, discard: () => spool.discard() };
  } catch (error) {
    await spool.discard();
    throw error;
  }
}

function asPush(commandList: PushRequest['commandList'], pushOptions: readonly string[]): PushRequest {
  return { kind: 'push', commandList, capabilities: NO_CAPABILITIES, pushOptions };
}

/** Counts an attempt. @throws Refusal if no pushes are accepted, or too many */
async function letIn(c: Context<AppEnv>, { withdraw, preview, prHash }: PushOptions): Promise<void> {
  const opens = !preview && prHash === null;
  const refusal = await new ClientPushLimits(hostScopeOf(c)).enter(withdraw, opens && !withdraw);
  if (refusal !== null) throw refusal;
  const tooMany = withdraw ? null : await refuseTooMany(c, 'discoveries');
  if (tooMany === null) return;
  const { error, headers } = tooMany;
  const waitMs = Number(headers['Retry-After'] ?? 60) * 1000;
  throw new Refusal('rate-limited', error, [], { waitMs });
}

/**
 * @throws Refusal for a push that is published later, because the host would learn now which files
 * a later pull request changes
 */
async function refuseWaiting(
  run: MaybeReviewed & { readonly settings: Pick<Config, 'publishDelayMs'> },
  { delayMs, wait }: PushOptions,
): Promise<void> {
  const isForReviewer = await isForReview(run);
  const isDelayed = (delayMs ?? run.settings.publishDelayMs) > 0;
  if (!isDelayed && !wait && !isForReviewer) return;
  const withoutDelay = delayMs === null ? 'add -o delay=0s' : 'use -o delay=0s instead';
  const changes = [...(wait ? ['leave out wait'] : []), ...(isDelayed ? [withoutDelay] : [])];
  const atOnce = `To publish the patch at once, ${changes.join(', and ')}.`;
  throw new Refusal('patch', 'a patch cannot wait', [
    ...(isForReviewer ? ['The operator of this service reviews it before it is published.'] : []),
    'To apply it, the service asks the code host for the files that it changes, long before it would be published.',
    isForReviewer ? 'Push it, or send a bundle.' : `Push it, or send a bundle. ${atOnce}`,
  ]);
}

/** The commit of a diff without a message. @throws PatchError */
function mailOf(patch: Uint8Array, { title, description }: PushOptions): Omit<PatchMail, 'people'> {
  if (title === null)
    throw malformed(
      'A diff has no message. Add one to the address: ?title=<words>, and &description=<text> if there is more to say.',
    );
  const message = `${title}\n${description === null ? '' : `\n${description}\n`}`;
  return { message, start: 0, end: patch.byteLength };
}

type AtHost = Pick<PushRun, 'host' | 'steps'>;

/** The branch of the pull request that a patch updates, so that it stays for that one; or null. */
async function baseOfUpdate(
  at: AtHost,
  store: Pick<PushStore, 'placeOf'>,
  target: RepositoryName,
  { prHash }: PushOptions,
): Promise<string | null> {
  const place = prHash === null ? null : await store.placeOf(prHash);
  if (prHash === null || place === null) return null;
  const found = await findPullRequest(at, target, await at.host.botLogin(), prHash, place);
  return found?.isOpen ? found.base : null;
}

/**
 * Applies a patch to the tip of a branch.
 * @param named the branch; null: the default one.
 * @throws Refusal, PatchError
 */
async function onBase(
  { host, steps }: AtHost,
  target: RepositoryName,
  named: string | null,
  apply: (base: Base, read: ReadObjects) => Promise<Series>,
) {
  const found = await steps.run('lookup', () =>
    followMoves(target, async (name) => ({
      name,
      listed: await host.transport.listRefs(name, wantedRefs(named), 'upstream'),
    })),
  );
  const { name, listed } = found.answer;
  const branch =
    named === null
      ? defaultBranchOf(listed)
      : (listed.refs.find((ref) => ref.name === HEADS + named) ?? null);
  if (branch === null) {
    const { refs } = await steps.run('lookup', () => discoveredRefs(host, name));
    throw missingBase(name, refs, named);
  }
  const { oid: tip } = branch;
  const read = heldReads(host, name, FILE_COPIES);
  const series = await steps.run('lookup', async () => {
    const { tree, committedAt } = await readCommit(read, tip);
    return apply({ tip, tree, committedAt }, read);
  });
  return { ...series, branch: branchName(branch) };
}

const wantedRefs = (named: string | null): string[] => (named === null ? ['HEAD'] : [HEADS + named]);
