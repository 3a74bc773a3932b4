/**
 * Requests made by hand, for what no ordinary client sends: the Git protocol spelled out byte by
 * byte, apart from the service's own code, so that the two cannot be wrong in the same way.
 */
import { request as httpRequest } from 'node:http';
import { pkt, ZERO_ID } from '../../support/pkt-line.ts';
import type { Clone, Person } from './person.ts';
import type { Upstream } from './upstream.ts';

export const RECEIVE_PACK = 'application/x-git-receive-pack-request';

export interface WireAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

export interface PushBody {
  readonly commands: readonly { readonly oldId?: string; readonly newId: string; readonly ref: string }[];
  /** Default: what Git sends. */
  readonly capabilities?: string;
  readonly options?: readonly string[];
  readonly pack: Uint8Array;
}

export const GIT_CAPABILITIES = 'report-status side-band-64k quiet push-options';

/** The body of a push request. */
export function pushBody({ commands, capabilities = GIT_CAPABILITIES, options, pack }: PushBody): Buffer {
  const lines = commands.map(({ oldId = ZERO_ID, newId, ref }, index) =>
    pkt(`${oldId} ${newId} ${ref}${index === 0 ? `\0 ${capabilities}` : ''}`),
  );
  const wantsOptions = capabilities.includes('push-options');
  return Buffer.concat([
    ...lines,
    pkt(null),
    ...(wantsOptions ? [...(options ?? []).map((option) => pkt(option)), pkt(null)] : []),
    pack,
  ]);
}

/** The body of a fetch that wants the tip and has nothing. */
export async function fetchBody(upstream: Upstream): Promise<Buffer> {
  const want = `want ${await upstream.tip()} side-band-64k ofs-delta\n`;
  return Buffer.concat([pkt(want), pkt(null), pkt('done\n')]);
}

/** Sends a request with a person's headers; the body in one piece, or in those given. */
export function send(
  url: string,
  options: {
    readonly method?: string;
    readonly person?: Person;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: Uint8Array | readonly Uint8Array[];
  } = {},
): Promise<WireAnswer> {
  const { method = 'GET', person, body = [] } = options;
  const pieces = body instanceof Uint8Array ? [body] : body;
  return new Promise((resolve, reject) => {
    const headers = { ...person?.headers, 'User-Agent': person?.userAgent ?? 'test', ...options.headers };
    // A connection that Node keeps may be closed by the service in the moment in which it is used
    // again.
    const request = httpRequest(url, { method, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(chunks),
        }),
      );
    });
    request.on('error', reject);
    // Without this a body in one piece gets a Content-Length of Node's own making, and one in
    // several is chunked.
    for (const piece of pieces) request.write(piece);
    request.end();
  });
}

/** POSTs a push. */
export function sendPush(
  remoteUrl: string,
  person: Person,
  body: Uint8Array | readonly Uint8Array[],
): Promise<WireAnswer> {
  const headers = { 'Content-Type': RECEIVE_PACK, Accept: 'application/x-git-receive-pack-result' };
  return send(`${remoteUrl}/git-receive-pack`, { method: 'POST', person, headers, body });
}

/**
 * A pack of a clone's objects: `git pack-objects --revs` over what `revisions` name, e.g. `HEAD`,
 * `^origin/main`.
 */
export async function packOf(clone: Clone, revisions: readonly string[], ...args: string[]): Promise<Buffer> {
  return clone.person.mustGit(clone.gitFolder, ['pack-objects', '--quiet', '--revs', '--stdout', ...args], {
    input: `${revisions.join('\n')}\n`,
  });
}
