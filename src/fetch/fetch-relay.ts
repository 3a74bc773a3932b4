/**
 * A fetching client's requests on their way to the host.
 *
 * Only the headers below are sent, and never the bot's token, because it could read private repositories for anyone.
 * src/git/wire/fetch-request.ts decides what part of a request is passed on.
 *
 * Some clients (isomorphic-git) post to a repository's old name although discovery redirected them to the new one, and
 * would turn a redirected POST into a GET. So the redirect is followed here: the body is kept until the answer, and
 * sent again under the new name.
 */
import type { Context } from 'hono';
import type { AppEnv } from '../env.ts';
import type { RepositoryName } from '../repository-name.ts';
import { movedRepository, SmartHttp } from '../host/git/smart-http.ts';

export const UPLOAD_PACK_REQUEST = 'application/x-git-upload-pack-request';
export const UPLOAD_PACK_RESULT = 'application/x-git-upload-pack-result';
/** The protocol version in this header; Git may add other keys. The host answers in the same version. */
const PROTOCOL_VERSION = /(?:^|:)version=([12])(?:$|:)/;

/** The host's answer, a redirect included; null if there is none, or none in time. */
export function relayDiscovery(c: Context<AppEnv>, target: RepositoryName): Promise<Response | null> {
  const path = 'info/refs?service=git-upload-pack';
  return relay(c, target, path, { method: 'GET', headers: gitProtocol(c), body: null });
}

/** The version of Git's protocol that a request is in. */
export function protocolVersion(c: Context<AppEnv>): 0 | 1 | 2 {
  const version = PROTOCOL_VERSION.exec(c.req.header('Git-Protocol') ?? '')?.[1];
  return version === '2' ? 2 : version === '1' ? 1 : 0;
}

/** The host's answer; null if there is none, or none in time. */
export async function relayUploadPack(
  c: Context<AppEnv>,
  target: RepositoryName,
  body: Uint8Array,
): Promise<Response | null> {
  const answer = await post(c, target, body);
  const movedTo = answer === null ? null : movedRepository(answer);
  if (movedTo === null) return answer;
  await answer?.body?.cancel();
  return post(c, movedTo, body);
}

function post(c: Context<AppEnv>, target: RepositoryName, body: Uint8Array): Promise<Response | null> {
  const headers = {
    ...gitProtocol(c),
    'Content-Type': UPLOAD_PACK_REQUEST,
    Accept: UPLOAD_PACK_RESULT,
  };
  return relay(c, target, 'git-upload-pack', { method: 'POST', headers, body });
}

async function relay(
  c: Context<AppEnv>,
  target: RepositoryName,
  path: string,
  request: Parameters<SmartHttp['fetch']>[2],
): Promise<Response | null> {
  try {
    return await new SmartHttp(c.var.host.url, null, c.var.http).fetch(target, path, request);
  } catch (error) {
    c.var.logger.warn('a fetch could not be relayed', { error });
    return null;
  }
}

function gitProtocol(c: Context<AppEnv>): Record<string, string> {
  const version = protocolVersion(c);
  return version === 0 ? {} : { 'Git-Protocol': `version=${version}` };
}
