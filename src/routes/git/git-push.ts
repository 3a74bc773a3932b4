/**
 * Push over HTTP (contract, 4.5 and 4.6): discovery, and the request whose story src/push tells.
 *
 * Every problem with a push is reported in-band with status 200, because Git hides the text of any other status, and
 * ends with "Everything up-to-date". There are two exceptions: 413, which the contract requires, and 415, for requests
 * that no Git client sends, and that panic comes before.
 */
import type { Context } from 'hono';
import { fileUrl, repositoryPath } from '../../config/hosts.ts';
import type { AppEnv } from '../../env.ts';
import { ByteReader, type ChunkSource } from '../../git/wire/byte-reader.ts';
import { readPushRequest, unreadRequest } from '../../git/wire/push-request.ts';
import { ProtocolError } from '../../git/wire/protocol-error.ts';
import { HostError, MovedError } from '../../host-error.ts';
import type { RepositoryName } from '../../repository-name.ts';
import { systemClock } from '../../isolate/clock.ts';
import { isolate } from '../../metrics/isolate.ts';
import { discoverForPush, listAhead } from '../../upstream/discovery.ts';
import { newPrHash } from '../../pr-hash.ts';
import { wasPushedTo } from '../../push/publish/publish.ts';
import { PushRun } from '../../push/push-run.ts';
import { type Reply, SideBandReply } from '../../push/reply/reply.ts';
import { abandon, type Arrival, conclude, end, receive } from '../../push/session.ts';
import type { PushSettings } from '../../push/push-host.ts';
import type { BodyLimits } from '../../streams/body.ts';
import { gitBody } from '../../streams/request-body.ts';
import { TimedWriter } from '../../streams/timed-writer.ts';
import {
  announcedBytes,
  gitClient,
  missing,
  NO_CACHE,
  redirectToMoved,
  shownByGit,
  unreachable,
  answerTooLarge,
  wrongType,
} from './git-http.ts';
import { pullRequestFooter } from '../../text/footer.ts';
import { MAINTAINERS_PATH } from '../../pages/layout.ts';
import { RELEASE_PATH } from '../../durable/delayed-pushes/release-due.ts';
import { pullRequestPath } from '../../pr-hash.ts';
import { longBody } from '../request/long-body.ts';
import { publishedAddress, publishedOrigin, shownOrigin } from '../request/public-origin.ts';
import { pushHost } from './push-host.ts';
import type { PushHost } from '../../push/push-host.ts';
import { withinLimit } from '../request/limits.ts';
import { answerRefused, BUSY, type Refused, refused } from '../request/refused.ts';
import { suspensionOf } from '../request/suspension.ts';
import { ISSUE_FORM } from '../request/repository.ts';

const MAX_PUSH_BYTES = 100 * 1024 * 1024;
const REQUEST_TYPE = 'application/x-git-receive-pack-request';
const RESULT_TYPE = 'application/x-git-receive-pack-result';
const ADVERTISEMENT_TYPE = 'application/x-git-receive-pack-advertisement';
/** The end of an answer is given to the runtime before it is on its way: one that dies then has not answered. */
const LAST_BYTES_MS = 20;
/** While a client discovers, it shows nothing to the person who waits. */
const DISCOVERY_TIMEOUT_MS = 15_000;

export function discoverPush(c: Context<AppEnv>, target: RepositoryName): Promise<Response> {
  return withinLimit(c, 'discoveries', () => discovered(c, target));
}

async function discovered(c: Context<AppEnv>, target: RepositoryName): Promise<Response> {
  const host = pushHost(c, { timeoutMs: DISCOVERY_TIMEOUT_MS });
  const isPushed = wasPushedTo(host, target);
  const discovery = advertised(c, host, target);
  const listed = isPushed ? discovery.then(() => listAhead(host, target)) : discovery;
  // If the client leaves now, it continues, because it must give back what it holds.
  c.executionCtx.waitUntil(listed.catch(() => {}).finally(() => host.memory.end()));
  return discovery;
}

async function advertised(c: Context<AppEnv>, host: PushHost, target: RepositoryName): Promise<Response> {
  try {
    const advertisement = await discoverForPush(host, target, c.var.logger);
    const headers = { 'Content-Type': ADVERTISEMENT_TYPE, ...NO_CACHE };
    return new Response(longBody(c, advertisement), { headers });
  } catch (error) {
    if (error instanceof MovedError) return redirectToMoved(c, error.to, 'git-receive-pack');
    if (!(error instanceof HostError)) throw error;
    if (error.code === 'missing') return missing(c, target);
    if (error.code === 'busy') return shownByGit(c, BUSY);
    return shownByGit(c, unreachable(host.transport.hostName));
  }
}

export async function receivePack(c: Context<AppEnv>, target: RepositoryName): Promise<Response> {
  const refusal = wrongType(c, REQUEST_TYPE);
  // From a copy of the switch, as any page may make a browser send this.
  if (refusal !== null && !(await isSuspended(c))) return answerRefused(c, refusal, 'text');
  if (announcedBytes(c) > MAX_PUSH_BYTES) return pushTooLarge(c, gitBody(c.req.raw, bodyLimits(c)));
  const host = pushHost(c);
  const receiving = received(c, host, target, refusal).catch((error: unknown) => {
    host.memory.end();
    throw error;
  });
  // If the client leaves now, the push continues, because it must release what it holds.
  c.executionCtx.waitUntil(receiving.catch(() => {}));
  return receiving;
}

/** From the first byte to the last one. The answer is still being written then. */
async function received(
  c: Context<AppEnv>,
  host: PushHost,
  target: RepositoryName,
  typeRefusal: Refused | null,
): Promise<Response> {
  const body = gitBody(c.req.raw, bodyLimits(c));
  const reader = new ByteReader(body);
  const request =
    typeRefusal === null
      ? await readPushRequest(reader, host.memory)
      : unreadRequest(new ProtocolError('bad-request', typeRefusal.error));
  if (request.kind === 'probe') {
    host.memory.end();
    return result(null);
  }
  const reply = new SideBandReply(request.capabilities);
  const run = pushRun(c, host, reply, target);
  const arrival = await receive(run, request, reader);
  if (body.isOverLimit) {
    c.executionCtx.waitUntil(abandon(run, arrival));
    return pushTooLarge(c, body);
  }
  const { readable, writable } = new IdentityTransformStream();
  // It continues also if the client leaves now, because it may be half done on the host.
  c.executionCtx.waitUntil(isolate.during(answer(run, arrival, reply, writable)));
  return result(readable);
}

/** False if nobody knows. */
async function isSuspended({ env }: Context<AppEnv>): Promise<boolean> {
  const suspension = await suspensionOf(env).catch(() => null);
  return suspension?.panicMode === true;
}

/** @param names what a form decides, and not chance. */
export function pushRun(
  c: Context<AppEnv>,
  host: PushHost,
  reply: Reply,
  target: RepositoryName,
  names: Partial<Pick<PushSettings, 'newPrHash'>> = {},
): PushRun {
  return new PushRun(host, { ...pushSettings(c), ...names }, target, { reply, logger: c.var.logger });
}

/** The first write after a connection has broken seems to succeed. Only the next one fails. */
async function answer(
  run: PushRun,
  arrival: Arrival,
  reply: SideBandReply,
  writable: WritableStream<Uint8Array>,
): Promise<void> {
  const writer = new TimedWriter(writable, run.settings.writeTimeoutMs);
  let isAnswered = false;
  try {
    await reply.open((bytes) => writer.write(bytes));
    const { lines, finalLine, ...report } = await reply.keepAlive(systemClock, conclude(run, arrival));
    await reply.note(...lines);
    const isWritten = await reply.finish(report, finalLine);
    isAnswered = (await writer.close()) && isWritten;
    if (isAnswered) await systemClock.sleep(LAST_BYTES_MS);
  } finally {
    await end(run, arrival, isAnswered);
  }
}

function result(body: ReadableStream<Uint8Array> | null): Response {
  return new Response(body, { headers: { 'Content-Type': RESULT_TYPE, ...NO_CACHE } });
}

function bodyLimits(c: Context<AppEnv>): BodyLimits {
  return { maxBytes: MAX_PUSH_BYTES, timeoutMs: c.var.config.readTimeoutMs };
}

function pushTooLarge(c: Context<AppEnv>, body: ChunkSource): Promise<Response> {
  const refusal = refused(413, 'The push is over 100 MB. Push fewer commits at once.');
  return answerTooLarge(c, body, refusal, 'text');
}

export function pushSettings(c: Context<AppEnv>): PushSettings {
  const { anonEmail, maxRepositoryMb, writeTimeoutMs, notifyBaseUrl, prUpdatePolicy, identityCheck } =
    c.var.config;
  const origin = shownOrigin(c.req.raw, c.var.config);
  return {
    anonEmail,
    maxRepositoryMb,
    writeTimeoutMs,
    notifyBaseUrl,
    prUpdatePolicy,
    identityCheck,
    pushSecrets: c.var.config.pushSecrets,
    pushDoubles: c.var.config.pushDoubles,
    publishDelayMs: c.var.config.publishDelayMs,
    whenBusy: c.var.config.whenBusy,
    review: c.var.config.review,
    client: gitClient(c),
    pullRequestFooter: pullRequestFooter(
      publishedAddress(c.req.raw, c.var.config),
      publishedOrigin(c.req.raw, c.var.config) + MAINTAINERS_PATH,
    ),
    hostUrl: c.var.host.url,
    remoteUrl: (repository) => `${origin}/v1/${repositoryPath(c.var.host, repository)}`,
    publishedUrl: (repository) =>
      `${publishedOrigin(c.req.raw, c.var.config)}/v1/${repositoryPath(c.var.host, repository)}`,
    fileUrl: (repository, path) => fileUrl(c.var.host, repository, path),
    issueFormUrl: (repository) => `${origin}/v1/${repositoryPath(c.var.host, repository)}${ISSUE_FORM}`,
    pageUrl: (prHash) => `${origin}${pullRequestPath(prHash)}`,
    delayedUrl: (name) => `${origin}${RELEASE_PATH}/${name}`,
    newPrHash,
  };
}
