/**
 * Push over HTTP (contract, 4.5 and 4.6): discovery, and the request whose story src/push tells.
 *
 * Whatever can be wrong with a push is told in-band: Git hides the text of any other status, and ends with "Everything
 * up-to-date". Two answers have a status nevertheless: 413 as the contract asks for it, and 415 for what no Git client
 * sends.
 */
import type { Context } from 'hono';
import type { AppEnv } from '../env.ts';
import { ByteReader, type ChunkSource } from '../git/byte-reader.ts';
import { type GitClient, gitClientOf } from '../git/git-client.ts';
import { type FaultyRequest, type PushRequest, readPushRequest } from '../git/push-request.ts';
import { HostError, MovedError } from '../host/host-error.ts';
import { fullName, type RepositoryName } from '../host/repository-name.ts';
import { isolate } from '../metrics/isolate.ts';
import { discoverForPush } from '../push/discovery.ts';
import type { PushSettings } from '../push/preparation.ts';
import { Push } from '../push/push.ts';
import { lookUpAhead } from '../push/upstream-repository.ts';
import { toRefusal } from '../push/refusal.ts';
import type { WriteBytes } from '../push/reply.ts';
import { TurnedAway } from '../push/turned-away.ts';
import { Withdrawal, withdrawalOf } from '../push/withdrawal.ts';
import { type BodyLimits, chunksOf, drain } from '../streams.ts';
import { TimedWriter } from '../streams/timed-writer.ts';
import {
  announcedBytes,
  gitBody,
  missing,
  NO_CACHE,
  redirectToMoved,
  tooLarge,
  wrongType,
} from './git-http.ts';
import { pullRequestPath } from '../pages/pull-request-page.ts';
import { publicOrigin } from './public-origin.ts';
import { pushHost } from './push-host.ts';

const MAX_PUSH_BYTES = 100 * 1024 * 1024;
const REQUEST_TYPE = 'application/x-git-receive-pack-request';
const RESULT_TYPE = 'application/x-git-receive-pack-result';
const ADVERTISEMENT_TYPE = 'application/x-git-receive-pack-advertisement';
const PR_HASH_BYTES = 6;
const PR_KEY_BYTES = 16;

export async function discoverPush(c: Context<AppEnv>, target: RepositoryName): Promise<Response> {
  const host = pushHost(c);
  c.executionCtx.waitUntil(lookUpAhead(host, target));
  try {
    const advertisement = await discoverForPush(host, target, c.var.logger);
    return new Response(advertisement, { headers: { 'Content-Type': ADVERTISEMENT_TYPE, ...NO_CACHE } });
  } catch (error) {
    if (error instanceof MovedError) return redirectToMoved(c, error.to, 'git-receive-pack');
    if (!(error instanceof HostError)) throw error;
    if (error.code === 'missing') return missing(c, target);
    return c.json({ error: `failed to reach ${host.transport.hostName}` }, 502);
  }
}

/** A push from the commands on; how it goes is told in-band. */
interface PushStory {
  /** Reads the body to its end, or to its limit. Never rejects. */
  receive(reader: ByteReader): Promise<void>;
  /** Does what is left, and answers; false if the client has gone. Never rejects. */
  conclude(write: WriteBytes): Promise<boolean>;
  /** Gives back what the push holds, after `conclude`. Never rejects. */
  end(isAnswered: boolean): Promise<void>;
  /** Ends the push in place of both, as its body is over the limit, which HTTP says. Never rejects. */
  abandon(): Promise<void>;
}

export async function receivePack(c: Context<AppEnv>, target: RepositoryName): Promise<Response> {
  const refusal = wrongType(c, REQUEST_TYPE);
  if (refusal !== null) return refusal;
  if (announcedBytes(c) > MAX_PUSH_BYTES) return pushTooLarge(c, chunksOf(c.req.raw.body, bodyLimits(c)));
  const body = gitBody(c, bodyLimits(c));
  const reader = new ByteReader(body);
  const request = await readPushRequest(reader);
  if (request.kind === 'probe') await drain(reader);
  if (body.isOverLimit) return pushTooLarge(c, body);
  if (request.kind === 'probe') return result(null);
  const push = await storyOf(c, target, request);
  const received = push.receive(reader);
  // A client that leaves now does not end the push: what it holds must be given back.
  c.executionCtx.waitUntil(received);
  await received;
  if (body.isOverLimit) {
    c.executionCtx.waitUntil(push.abandon());
    return pushTooLarge(c, body);
  }
  const { readable, writable } = new IdentityTransformStream();
  // Nor does one that leaves now: the push is half done on the host.
  c.executionCtx.waitUntil(isolate.during(conclude(push, writable, c.var.config.writeTimeoutMs)));
  return result(readable);
}

async function storyOf(
  c: Context<AppEnv>,
  target: RepositoryName,
  request: PushRequest | FaultyRequest,
): Promise<PushStory> {
  if (request.kind === 'faulty') return new TurnedAway(toRefusal(request.fault, clientOf(c)), request);
  const host = pushHost(c);
  // Before any other work; the window of the address follows when it is known that a pull request is wanted.
  const refusal = await host.admission.enter();
  if (refusal !== null) {
    const refNames = request.commandList.map(({ refName }) => refName);
    return new TurnedAway(refusal, { ...request, refNames });
  }
  const withdrawal = withdrawalOf(request);
  const settings = pushSettings(c);
  return withdrawal === null
    ? new Push(host, settings, target, request, c.var.logger)
    : new Withdrawal(host, settings, target, withdrawal, c.var.logger);
}

/** What is written first after a line has broken seems to be taken; then the break is known. */
async function conclude(
  push: PushStory,
  writable: WritableStream<Uint8Array>,
  writeTimeoutMs: number,
): Promise<void> {
  const writer = new TimedWriter(writable, writeTimeoutMs);
  const isWritten = await push.conclude((bytes) => writer.write(bytes));
  const isClosed = await writer.close();
  await push.end(isWritten && isClosed);
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

function pushSettings(c: Context<AppEnv>): PushSettings {
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
    remoteUrl: (repository) => `${origin}/v1/gh/${fullName(repository)}`,
    pageUrl: (prHash) => `${origin}${pullRequestPath(prHash)}`,
    newPrHash: () => randomHex(PR_HASH_BYTES),
    newPrKey: () => randomHex(PR_KEY_BYTES),
  };
}

function clientOf(c: Context<AppEnv>): GitClient {
  return gitClientOf(c.req.header('User-Agent') ?? '');
}

function randomHex(bytes: number): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))).toString('hex');
}
