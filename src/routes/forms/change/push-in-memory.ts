/**
 * Pushes a commit that the service has built itself. It goes the way of every push: admission, limits, policy, identity
 * guard, fork, pull request; only the client is missing.
 */
import type { Context } from 'hono';
import type { AppEnv } from '../../../env.ts';
import { ByteReader } from '../../../git/byte-reader.ts';
import { concatBytes } from '../../../git/bytes.ts';
import { ZERO_OID } from '../../../git/oid.ts';
import { BAND_PROGRESS, readBands } from '../../../git/side-band.ts';
import type { RepositoryName } from '../../../host/repository-name.ts';
import { isolate } from '../../../metrics/isolate.ts';
import type { PushSettings } from '../../../push/preparation.ts';
import { Push } from '../../../push/push.ts';
import { isPreview, pushedRequest } from '../../../push/pushed-request.ts';
import { type BannerFacts, bannerLines } from '../../../push/reply/banner.ts';
import { countPush } from '../../../push/reply/outcome.ts';
import { Refusal } from '../../../push/reply/refusal.ts';
import { Withdrawal, type Withdrawn } from '../../../push/withdrawal.ts';
import { parsePushOptions } from '../../../push/command/push-options.ts';
import type { BuiltChange } from '../../../edit/build-change.ts';
import { pushSettings } from '../../git/git-push.ts';
import { pushHost } from '../../git/push-host.ts';

const CAPABILITIES: ReadonlySet<string> = new Set(['report-status', 'side-band-64k', 'push-options']);

export interface InMemoryPush {
  readonly change: BuiltChange;
  /** The branch that it is for. */
  readonly base: string;
  readonly pushOptions: readonly string[];
  /** What the form decides, and not chance: so sending it twice opens one pull request. */
  readonly names: Partial<Pick<PushSettings, 'newPrHash' | 'newPrKey'>>;
}

export interface Pushed {
  readonly result: BannerFacts | Refusal;
  /** Warnings and the like, without what the service was doing at the time. */
  readonly lines: readonly string[];
}

/** Continues also if the person leaves, because it is half done on the host. */
export async function pushInMemory(
  c: Context<AppEnv>,
  target: RepositoryName,
  push: InMemoryPush,
): Promise<Pushed> {
  const pushing = isolate.during(pushed(c, target, push));
  c.executionCtx.waitUntil(pushing);
  return pushing;
}

async function pushed(
  c: Context<AppEnv>,
  target: RepositoryName,
  { change, base, pushOptions, names }: InMemoryPush,
): Promise<Pushed> {
  const host = pushHost(c);
  const request = pushedRequest({
    kind: 'push',
    commandList: [{ oldId: ZERO_OID, newId: change.tip, refName: `refs/for/${base}` }],
    capabilities: CAPABILITIES,
    pushOptions,
  });
  const refusal = await host.admission.enter(!isPreview(request));
  if (refusal !== null) return turnedAway(refusal);
  const settings = { ...pushSettings(c), ...names };
  const push = new Push(host, settings, target, request, c.var.logger);
  const reply: Uint8Array[] = [];
  await push.receive(readerOf(change.pack));
  await push.conclude(async (bytes) => reply.push(bytes) > 0);
  // A retry is the same form, which finds the pull request by its name.
  await push.end(true);
  const result = push.result ?? new Refusal('internal error', ['Try again later.']);
  const lines = await progressOf(reply);
  if (result instanceof Refusal) return { result, lines };
  const notes = lines.slice(0, -bannerLines(result).length).filter((line) => !line.endsWith(' ...'));
  return { result, lines: notes };
}

export async function withdrawInMemory(
  c: Context<AppEnv>,
  target: RepositoryName,
  prHash: string,
  pushOptions: readonly string[],
): Promise<Withdrawn | Refusal> {
  const withdrawing = isolate.during(withdrawn(c, target, prHash, pushOptions));
  c.executionCtx.waitUntil(withdrawing);
  return withdrawing;
}

async function withdrawn(
  c: Context<AppEnv>,
  target: RepositoryName,
  prHash: string,
  pushOptions: readonly string[],
): Promise<Withdrawn | Refusal> {
  const host = pushHost(c);
  const refusal = await host.admission.enter(false);
  if (refusal !== null) return turnedAway(refusal).result as Refusal;
  const parsed = parsePushOptions(pushOptions);
  if (parsed.kind === 'invalid') return new Refusal(parsed.message, []);
  const request = { refName: 'refs/heads/main', prHash, options: parsed.options, capabilities: CAPABILITIES };
  const withdrawal = new Withdrawal(host, pushSettings(c), target, request, c.var.logger);
  const isAnswered = await withdrawal.conclude(async () => true);
  await withdrawal.end(isAnswered);
  return withdrawal.result ?? new Refusal('internal error', ['Try again later.']);
}

function turnedAway(refusal: Refusal): Pushed {
  countPush(refusal, null);
  return { result: refusal, lines: refusal.lines };
}

function readerOf(bytes: Uint8Array): ByteReader {
  const chunks = [bytes];
  return new ByteReader({ read: async () => chunks.pop() ?? null, cancel: async () => {} });
}

/** What a Git client would show behind `remote:`. */
async function progressOf(reply: readonly Uint8Array[]): Promise<string[]> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const { band, data } of readBands(readerOf(concatBytes(reply)))) {
    if (band === BAND_PROGRESS) text += decoder.decode(data, { stream: true });
  }
  return text.split('\n').slice(0, -1);
}
