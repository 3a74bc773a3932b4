/** A push by a client that somebody has written from the contract. */
import { CLIENT_HEADER, type Answer, send } from './http.ts';
import { commit, object, pack, type PackObject, tree } from './pack.ts';
import { FLUSH, pkt, readReport, type PushReport, ZERO_ID } from './pkt.ts';

export const REQUEST_TYPE = 'application/x-git-receive-pack-request';
export const RESULT_TYPE = 'application/x-git-receive-pack-result';
/** All that the service offers and that changes what is sent or answered. */
export const CAPABILITIES = 'report-status side-band-64k push-options';

export interface Change {
  /** The id of the last commit. */
  readonly id: string;
  readonly objects: readonly PackObject[];
  readonly pack: Buffer;
}

let changes = 0;

/** One commit with one new file, which differs from all others. */
export function change(
  parent: string,
  message = 'Change a file\n\nBecause it is better.\n',
  by?: string,
): Change {
  const blob = object('blob', `change ${++changes}\n`);
  const files = tree({ 'README.md': blob });
  const made = commit({ tree: files, parents: [parent], message, ...(by !== undefined && { by }) });
  const objects = [made, files, blob];
  return { id: made.id, objects, pack: pack(objects) };
}

export interface Pushed extends PushReport {
  readonly answer: Answer;
  /** The hash that the banner shows; empty if there is none. */
  readonly prHash: string;
  readonly prUrl: string;
}

export function command(newId: string, ref = 'refs/heads/change', oldId = ZERO_ID): string {
  return `${oldId} ${newId} ${ref}`;
}

/** As Git sends it: command, flush, options, flush, pack. */
export function bodyOf(
  { id, pack: bytes }: Pick<Change, 'id' | 'pack'>,
  options: readonly string[] = [],
  ref?: string,
) {
  const lines = options.map((option) => pkt(option));
  return Buffer.concat([pkt(`${command(id, ref)}\0 ${CAPABILITIES}`), FLUSH, ...lines, FLUSH, bytes]);
}

export async function post(remote: string, body: Uint8Array, from?: string, headers = {}): Promise<Answer> {
  return send(`${remote}/git-receive-pack`, {
    body,
    headers: {
      'Content-Type': REQUEST_TYPE,
      Accept: RESULT_TYPE,
      ...(from !== undefined && { [CLIENT_HEADER]: from }),
      ...headers,
    },
  });
}

/** Posts it, and reads the answer in-band. */
export async function push(remote: string, body: Uint8Array, from?: string): Promise<Pushed> {
  const answer = await post(remote, body, from);
  if (answer.status !== 200) throw new Error(`${answer.status}: ${answer.text}`);
  const report = readReport(answer.body);
  return { answer, ...report, ...bannerOf(report.progress) };
}

/** Finds what a person needs later in the lines that they have read. */
export function bannerOf(lines: readonly string[]): { prHash: string; prUrl: string } {
  const text = lines.join('\n');
  return {
    prHash: /^\s*PR hash:\s+(\S+)$/im.exec(text)?.[1] ?? '',
    prUrl: /^\s*PR URL:\s+(\S+)$/im.exec(text)?.[1] ?? '',
  };
}
