/**
 * Push over HTTP (contract, 4.5 and 4.6): discovery, and the request whose story src/push tells.
 *
 * The HTTP status is chosen when the body has been read: 413 is the only failure of a push that has one. Everything
 * else is answered in-band, where Git shows it.
 */
import type { Context } from 'hono';
import type { AppEnv } from '../env.ts';
import { ByteReader } from '../git/byte-reader.ts';
import { ProtocolError } from '../git/protocol-error.ts';
import { readPushRequest } from '../git/push-request.ts';
import { HostError, MovedError } from '../host/host-error.ts';
import { fullName, type RepositoryName } from '../host/repository-name.ts';
import { isolate } from '../metrics/isolate.ts';
import { turnedAway } from '../push/admission.ts';
import { discoverForPush } from '../push/discovery.ts';
import { countPush } from '../push/outcome.ts';
import type { PushSettings } from '../push/preparation.ts';
import { Push } from '../push/push.ts';
import { Withdrawal, withdrawalOf } from '../push/withdrawal.ts';
import { BodyError, chunksOf, drain } from '../streams.ts';
import { announcedBytes, NO_CACHE, redirectToMoved, tooLarge, wrongContentType } from './git-http.ts';
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
  try {
    const advertisement = await discoverForPush(host, target, c.var.logger);
    return new Response(advertisement, { headers: { 'Content-Type': ADVERTISEMENT_TYPE, ...NO_CACHE } });
  } catch (error) {
    if (error instanceof MovedError) return redirectToMoved(c, error.to, 'git-receive-pack');
    if (!(error instanceof HostError)) throw error;
    // Not 401, whatever the host says: Git would ask for a password, and there is none to give.
    if (error.code === 'missing')
      return c.text(`${fullName(target)} does not exist, or is not public.\n`, 404);
    return c.json({ error: `failed to reach ${host.transport.hostName}` }, 502);
  }
}

export async function receivePack(c: Context<AppEnv>, target: RepositoryName): Promise<Response> {
  const wrongType = wrongContentType(c, REQUEST_TYPE);
  if (wrongType !== null) return wrongType;
  if (c.req.header('Content-Encoding') !== undefined)
    return c.text('Content encodings are not taken here.\n', 415);
  const limits = { maxBytes: MAX_PUSH_BYTES, timeoutMs: c.var.config.readTimeoutMs };
  const reader = new ByteReader(chunksOf(c.req.raw.body, limits));
  if (announcedBytes(c) > MAX_PUSH_BYTES) return pushTooLarge(c, reader);
  try {
    const request = await readPushRequest(reader);
    if (request.kind === 'probe') return result(null);

    const host = pushHost(c);
    // Before any other work; the window of the address follows when it is known that a pull request is wanted.
    const refusal = await host.admission.enter();
    if (refusal !== null) {
      countPush(refusal, null);
      await drain(reader);
      return result(await turnedAway(request, refusal));
    }
    const withdrawal = withdrawalOf(request);
    const settings = pushSettings(c, target);
    const push =
      withdrawal === null
        ? new Push(host, settings, target, request, c.var.logger)
        : new Withdrawal(host, settings, target, withdrawal, c.var.logger);
    const received = push.receive(reader);
    // A client that leaves now does not end the push: what it holds must be given back.
    c.executionCtx.waitUntil(received.catch(() => {}));
    await received;
    const { readable, writable } = new IdentityTransformStream();
    // Nor does one that leaves now: the push is half done on the host.
    c.executionCtx.waitUntil(isolate.during(conclude(push, writable)));
    return result(readable);
  } catch (error) {
    return failedRequest(c, error, reader);
  }
}

const isHeard = (writing: Promise<void>): Promise<boolean> =>
  writing.then(
    () => true,
    () => false,
  );

/** What is written first after a line has broken seems to be taken; then the break is known. */
async function conclude(push: Push | Withdrawal, writable: WritableStream<Uint8Array>): Promise<void> {
  const writer = writable.getWriter();
  const isWritten = await push.conclude((bytes) => isHeard(writer.write(bytes)));
  const isClosed = await isHeard(writer.close());
  await push.end(isWritten && isClosed);
}

function result(body: ReadableStream<Uint8Array> | Uint8Array | null): Response {
  return new Response(body, { headers: { 'Content-Type': RESULT_TYPE, ...NO_CACHE } });
}

/** What has no report-status to stand in: the commands could not be read, or the body is over the limit. */
async function failedRequest(c: Context<AppEnv>, error: unknown, reader: ByteReader): Promise<Response> {
  if (error instanceof BodyError) {
    if (error.code === 'too-large') return pushTooLarge(c, reader);
    return c.text('The push did not arrive completely. Push again.\n', error.code === 'timeout' ? 408 : 400);
  }
  if (!(error instanceof ProtocolError)) throw error;
  await drain(reader);
  return c.text(`${error.publicMessage}\n`, 400);
}

function pushTooLarge(c: Context<AppEnv>, reader: ByteReader): Response {
  return tooLarge(
    c,
    reader,
    'The push is over 100 MB. Push fewer commits at once.\n',
    'text/plain; charset=UTF-8',
  );
}

function pushSettings(c: Context<AppEnv>, target: RepositoryName): PushSettings {
  const { anonEmail, maxRepositoryMb, writeTimeoutMs, notifyBaseUrl, prUpdatePolicy } = c.var.config;
  return {
    anonEmail,
    maxRepositoryMb,
    writeTimeoutMs,
    notifyBaseUrl,
    prUpdatePolicy,
    remoteUrl: `${publicOrigin(c.req.raw, c.var.config)}/v1/gh/${fullName(target)}`,
    newPrHash: () => randomHex(PR_HASH_BYTES),
    newPrKey: () => randomHex(PR_KEY_BYTES),
  };
}

function randomHex(bytes: number): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))).toString('hex');
}
