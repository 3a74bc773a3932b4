/**
 * Push over HTTP (contract, 4.5 and 4.6): discovery, and the request whose story src/push tells.
 *
 * Every problem with a push is reported in-band with status 200, because Git hides the text of any other status, and
 * ends with "Everything up-to-date". There are two exceptions: 413, which the contract requires, and 415, for requests
 * that no Git client sends.
 */
import type { Context } from 'hono';
import { repositoryPath } from '../../config/hosts.ts';
import type { AppEnv } from '../../env.ts';
import { ByteReader, type ChunkSource } from '../../git/byte-reader.ts';
import { type GitClient, gitClientOf } from '../../git/git-client.ts';
import { type FaultyRequest, type PushRequest, readPushRequest } from '../../git/push-request.ts';
import { HostError, MovedError } from '../../host/host-error.ts';
import type { RepositoryName } from '../../host/repository-name.ts';
import { isolate } from '../../metrics/isolate.ts';
import { discoverForPush } from '../../push/upstream/discovery.ts';
import { newPrHash } from '../../push/command/pr-hash.ts';
import type { PushSettings } from '../../push/preparation.ts';
import { Push } from '../../push/push.ts';
import { isPreview, pushedRequest } from '../../push/pushed-request.ts';
import { lookUpAhead } from '../../push/upstream/upstream-repository.ts';
import { toRefusal } from '../../push/reply/refusal.ts';
import type { WriteBytes } from '../../push/reply/reply.ts';
import { TurnedAway } from '../../push/reply/turned-away.ts';
import { Withdrawal, withdrawalOf } from '../../push/withdrawal.ts';
import { type BodyLimits, chunksOf, drain } from '../../streams.ts';
import { TimedWriter } from '../../streams/timed-writer.ts';
import {
  announcedBytes,
  busyAnswer,
  gitBody,
  missing,
  NO_CACHE,
  redirectToMoved,
  tooLarge,
  wrongType,
} from './git-http.ts';
import { pullRequestFooter } from '../../identity/footer.ts';
import { maintainersUrl } from '../../pages/layout.ts';
import { pullRequestPath } from '../../pages/pull-request-page.ts';
import { publicOrigin, serviceAddress } from '../request/public-origin.ts';
import { pushHost } from './push-host.ts';
import type { PushHost } from '../../push/push-host.ts';
import { withinLimit } from '../request/rate-limit.ts';

const MAX_PUSH_BYTES = 100 * 1024 * 1024;
const REQUEST_TYPE = 'application/x-git-receive-pack-request';
const RESULT_TYPE = 'application/x-git-receive-pack-result';
const ADVERTISEMENT_TYPE = 'application/x-git-receive-pack-advertisement';
const PR_KEY_BYTES = 16;
/** While a client discovers, it shows nothing to the person who waits. */
const DISCOVERY_TIMEOUT_MS = 15_000;

export function discoverPush(c: Context<AppEnv>, target: RepositoryName): Promise<Response> {
  return withinLimit(c, 'discoveries', () => discovered(c, target));
}

async function discovered(c: Context<AppEnv>, target: RepositoryName): Promise<Response> {
  const host = pushHost(c, DISCOVERY_TIMEOUT_MS);
  c.executionCtx.waitUntil(lookUpAhead(host, target));
  const discovery = advertised(c, host, target).finally(() => host.memory.end());
  // If the client leaves now, it continues, because it must give back what it holds.
  c.executionCtx.waitUntil(discovery.catch(() => {}));
  return discovery;
}

async function advertised(c: Context<AppEnv>, host: PushHost, target: RepositoryName): Promise<Response> {
  try {
    const advertisement = await discoverForPush(host, target, c.var.logger);
    return new Response(advertisement, { headers: { 'Content-Type': ADVERTISEMENT_TYPE, ...NO_CACHE } });
  } catch (error) {
    if (error instanceof MovedError) return redirectToMoved(c, error.to, 'git-receive-pack');
    if (!(error instanceof HostError)) throw error;
    if (error.code === 'missing') return missing(c, target);
    if (error.code === 'busy') return busyAnswer(c);
    return c.json({ error: `failed to reach ${host.transport.hostName}` }, 502);
  }
}

/** A push after its commands were read. Its outcome is reported in-band. */
interface PushStory {
  /** Reads the body to its end, or to its limit. Never rejects. */
  receive(reader: ByteReader): Promise<void>;
  /** Does the remaining work, and answers; false if the client has gone. Never rejects. */
  conclude(write: WriteBytes): Promise<boolean>;
  /** Gives back what the push holds, after `conclude`. Never rejects. */
  end(isAnswered: boolean): Promise<void>;
  /** Ends the push instead of both, because its body is over the limit, which the HTTP status says. Never rejects. */
  abandon(): Promise<void>;
}

export async function receivePack(c: Context<AppEnv>, target: RepositoryName): Promise<Response> {
  const refusal = wrongType(c, REQUEST_TYPE);
  if (refusal !== null) return refusal;
  if (announcedBytes(c) > MAX_PUSH_BYTES) return pushTooLarge(c, chunksOf(c.req.raw.body, bodyLimits(c)));
  const host = pushHost(c);
  const receiving = received(c, host, target).catch((error: unknown) => {
    host.memory.end();
    throw error;
  });
  // If the client leaves now, the push continues, because it must release what it holds.
  c.executionCtx.waitUntil(receiving.catch(() => {}));
  return receiving;
}

/** From the first byte to the last one. The answer is still being written then. */
async function received(c: Context<AppEnv>, host: PushHost, target: RepositoryName): Promise<Response> {
  const body = gitBody(c, bodyLimits(c));
  const reader = new ByteReader(body);
  const request = await readPushRequest(reader, host.memory);
  if (request.kind === 'probe') await drain(reader);
  if (body.isOverLimit) {
    host.memory.end();
    return pushTooLarge(c, body);
  }
  if (request.kind === 'probe') return result(null);
  const push = await storyOf(c, host, target, request);
  await push.receive(reader);
  if (body.isOverLimit) {
    c.executionCtx.waitUntil(push.abandon());
    return pushTooLarge(c, body);
  }
  const { readable, writable } = new IdentityTransformStream();
  // It continues also if the client leaves now, because it is half done on the host.
  c.executionCtx.waitUntil(isolate.during(conclude(push, writable, c.var.config.writeTimeoutMs)));
  return result(readable);
}

async function storyOf(
  c: Context<AppEnv>,
  host: PushHost,
  target: RepositoryName,
  sent: PushRequest | FaultyRequest,
): Promise<PushStory> {
  if (sent.kind === 'faulty') return new TurnedAway(toRefusal(sent.fault, clientOf(c)), sent, host.memory);
  const request = pushedRequest(sent);
  // Before any other work. The address's limit is checked later, when it is known that the push opens a pull request.
  const withdrawal = withdrawalOf(request);
  const refusal = await host.admission.enter(withdrawal === null && !isPreview(request));
  if (refusal !== null) {
    const refNames = request.commandList.map(({ refName }) => refName);
    return new TurnedAway(refusal, { ...request, refNames }, host.memory);
  }
  const settings = pushSettings(c);
  return withdrawal === null
    ? new Push(host, settings, target, request, c.var.logger)
    : new Withdrawal(host, settings, target, withdrawal, c.var.logger);
}

/** The first write after a connection has broken seems to succeed. Only the next one fails. */
async function conclude(
  push: PushStory,
  writable: WritableStream<Uint8Array>,
  writeTimeoutMs: number,
): Promise<void> {
  const writer = new TimedWriter(writable, writeTimeoutMs);
  let isAnswered = false;
  try {
    const isWritten = await push.conclude((bytes) => writer.write(bytes));
    const isClosed = await writer.close();
    isAnswered = isWritten && isClosed;
  } finally {
    await push.end(isAnswered);
  }
}

function result(body: ReadableStream<Uint8Array> | null): Response {
  return new Response(body, { headers: { 'Content-Type': RESULT_TYPE, ...NO_CACHE } });
}

function bodyLimits(c: Context<AppEnv>): BodyLimits {
  return { maxBytes: MAX_PUSH_BYTES, timeoutMs: c.var.config.readTimeoutMs };
}

function pushTooLarge(c: Context<AppEnv>, body: ChunkSource): Response {
  return tooLarge(
    c,
    body,
    'The push is over 100 MB. Push fewer commits at once.\n',
    'text/plain; charset=UTF-8',
  );
}

export function pushSettings(c: Context<AppEnv>): PushSettings {
  const { anonEmail, maxRepositoryMb, writeTimeoutMs, notifyBaseUrl, prUpdatePolicy, identityCheck } =
    c.var.config;
  const origin = publicOrigin(c.req.raw, c.var.config);
  return {
    anonEmail,
    maxRepositoryMb,
    writeTimeoutMs,
    notifyBaseUrl,
    prUpdatePolicy,
    identityCheck,
    client: clientOf(c),
    pullRequestFooter: pullRequestFooter(
      serviceAddress(c.req.raw, c.var.config),
      maintainersUrl(c.var.config),
    ),
    remoteUrl: (repository) => `${origin}/v1/${repositoryPath(c.var.host, repository)}`,
    pageUrl: (prHash) => `${origin}${pullRequestPath(prHash)}`,
    newPrHash,
    newPrKey: () => randomHex(PR_KEY_BYTES),
  };
}

function clientOf(c: Context<AppEnv>): GitClient {
  return gitClientOf(c.req.header('User-Agent') ?? '');
}

function randomHex(bytes: number): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))).toString('hex');
}
