/**
 * Makes a push of a patch: it reads at the code host what the patch changes, and builds the commits
 * here. That counts as an attempt to push and as a look at the host before anything is read.
 * Proved by test/e2e/push/patch.test.ts.
 */
import { createHash } from 'node:crypto';
import type { Context } from 'hono';
import type { AppEnv } from '../../env.ts';
import { latin1 } from '../../git/bytes.ts';
import { ZERO_OID } from '../../git/objects/oid.ts';
import { ByteReader } from '../../git/wire/byte-reader.ts';
import { type PushRequest, unreadRequest } from '../../git/wire/push-request.ts';
import { followMoves } from '../../host/redirect.ts';
import { systemClock } from '../../isolate/clock.ts';
import type { MemoryHold } from '../../isolate/memory-budget.ts';
import { isPlainDiff, type PatchMail, readMails } from '../../patch/mails.ts';
import { malformed, PatchError } from '../../patch/patch-error.ts';
import { type Base, type Series, seriesOn } from '../../patch/series.ts';
import { refusalOf } from '../../push/judge/findings.ts';
import type { PushHost } from '../../push/push-host.ts';
import { faultsIn, parsePushOptions, type PushOptions } from '../../push/receive/push-options.ts';
import { HostSteps, Refusal, refusedOptions } from '../../push/reply/refusal.ts';
import { pushHost } from '../../service/open-push.ts';
import { ClientPushLimits } from '../../service/push-limits.ts';
import { heldReads, readCommit, type ReadObjects } from '../../upstream/tree-reader.ts';
import { defaultBranchOf } from '../../upstream/upstream-refs.ts';
import { fullName, type RepositoryName } from '../../words/repository-name.ts';
import { refuseTooMany } from '../request/limits.ts';
import { hostScopeOf } from '../request/scope.ts';
import type { Door, ReadPush } from './door.ts';
import { LinesReply } from './door.ts';

const MAX_PATCH_BYTES = 10 * 1024 * 1024;
const HEADS = 'refs/heads/';
/** A text in memory, and the pieces that it came in. */
const TEXT_COPIES = 2;
const NO_CAPABILITIES: ReadonlySet<string> = new Set();

export function patchDoor(c: Context<AppEnv>, target: RepositoryName): Door {
  return {
    name: 'patch',
    maxBytes: MAX_PATCH_BYTES,
    tooLarge: 'The patch is over 10 MB. Push it, or send a bundle.',
    asksLimits: true,
    read: (reader, pushOptions, memory) =>
      readPatch(c, target, reader, pushOptions, memory).catch((error: unknown) => ({
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
  refuseDelay(c, options);
  const patch = await textOf(reader, memory);
  const isDiff = isPlainDiff(patch);
  const mails = isDiff ? [mailOf(patch, options)] : readMails(patch);
  const host = pushHost(hostScopeOf(c), { memory });
  const { series, branch } = await onBase(host, target, options.base, (base, read) =>
    seriesOn(base, patch, mails, read, memory),
  );
  const command = { oldId: ZERO_OID, newId: series.tip, refName: `refs/for/${branch}` };
  // Title and description of a diff stand in its commit.
  const { used = [], left = [] } = Object.groupBy(pushOptions, (option) =>
    isDiff && /^(?:title|description)=/.test(option) ? 'used' : 'left',
  );
  const content = createHash('sha1').update(patch, 'latin1').digest('hex');
  return { request: asPush([command], left), pack: new ByteReader(series.pack), content, used };
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

/** @throws Refusal, because the host would learn now which files a later pull request changes */
function refuseDelay(c: Context<AppEnv>, { delayMs, wait }: PushOptions): void {
  if ((delayMs ?? c.var.config.publishDelayMs) === 0 && !wait) return;
  throw new Refusal('patch', 'a patch cannot wait', [
    'To apply it, the service asks the code host for the files that it changes, long before it would be published.',
    `Push it, or send a bundle. To publish the patch at once, ${wait ? 'leave out wait' : 'add -o delay=0s'}.`,
  ]);
}

/** Reads a body as a text with one character for each byte. */
async function textOf(reader: ByteReader, memory: MemoryHold): Promise<string> {
  const claim = memory.claim();
  let text = '';
  let bytes = 0;
  for (let chunk = await reader.nextChunk(); chunk !== null; chunk = await reader.nextChunk()) {
    text += latin1(chunk);
    bytes += chunk.byteLength;
    await claim.set(TEXT_COPIES * bytes);
    reader.recycle();
  }
  await memory.worked(bytes);
  return text;
}

/** The commit of a diff without a message. @throws PatchError */
function mailOf(patch: string, { title, description }: PushOptions): PatchMail {
  if (title === null)
    throw malformed(
      'A diff has no message. Add one to the address: ?title=<words>, and &description=<text> if there is more to say.',
    );
  const message = `${title}\n${description === null ? '' : `\n${description}\n`}`;
  return { people: [], message, start: 0, end: patch.length };
}

/**
 * Applies a patch to the tip of a branch.
 * @param named the branch; null: the default one.
 * @throws Refusal, PatchError
 */
async function onBase(
  host: PushHost,
  target: RepositoryName,
  named: string | null,
  apply: (base: Base, read: ReadObjects) => Promise<Series>,
) {
  const steps = new HostSteps(systemClock, new LinesReply(), host.transport.hostName);
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
  if (branch === null)
    throw new Refusal('base', 'there is no such base branch', [
      `${fullName(name)} has no branch ${named === null ? 'yet' : `"${named}"`}.`,
    ]);
  const { oid: tip, name: refName } = branch;
  const read = heldReads(
    (request, maxBytes) => host.transport.readObjects(name, request, maxBytes),
    host.memory,
  );
  const series = await steps.run('lookup', async () => {
    const { tree, committedAt } = await readCommit(read, tip);
    return apply({ tip, tree, committedAt }, read);
  });
  return { series, branch: refName.slice(HEADS.length) };
}

const wantedRefs = (named: string | null): string[] => (named === null ? ['HEAD'] : [HEADS + named]);
