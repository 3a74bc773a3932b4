/**
 * Answers, from a repository's files, what `git upload-pack` and `git receive-pack` say of its
 * refs. Two thirds of all requests ask for nothing else, and starting a program takes longer than
 * the rest of such a request. The capabilities are those of the real programs, which also answer
 * everything that is not plain: then the result here is `null`.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasHostConfig, readRefs } from './bare-repository.ts';
import { mustRunGit } from './git-command.ts';
import { argumentsOf, pktLine } from './pkt-line.ts';

const NO_OID = '0'.repeat(40);
const LS_REFS_WORDS = new Set(['peel', 'symrefs', 'unborn']);

/** Capabilities by service and protocol; they are the same for all repositories. */
const capabilities = new Map<string, Promise<Buffer>>();

/**
 * Makes the answer to `info/refs`, without the announcement of the service that precedes it in old
 * protocols.
 */
export async function advertisedRefs(
  path: string,
  service: string,
  protocol: string,
): Promise<Buffer | null> {
  const isFetch = service === 'git-upload-pack';
  if (!hasHostConfig(path) || (isFetch && protocol !== 'version=2') || protocol === 'version=1') return null;
  const key = `${service} ${protocol}`;
  const answer = capabilities.get(key) ?? runDiscovery(path, service, protocol);
  capabilities.set(key, answer);
  // Version 2 lists no refs here, and git receive-pack does not know it.
  if (isFetch) return answer;
  const [, listed = ''] = /\0([^\n]*)\n/.exec((await answer).toString('latin1')) ?? [];
  const refs = [...readRefs(path)].filter(([name]) => !name.startsWith('refs/pull/'));
  const lines =
    refs.length === 0 ? [`${NO_OID} capabilities^{}`] : refs.map(([name, oid]) => `${oid} ${name}`);
  return Buffer.from(
    lines.map((line, index) => pktLine(index === 0 ? `${line}\0${listed}` : line)).join('') + '0000',
  );
}

/** Makes the answer to the command `ls-refs` of protocol version 2 (gitprotocol-v2). */
export function listedRefs(path: string, body: Buffer): string | null {
  const args = argumentsOf('ls-refs', body);
  if (args === null || !hasHostConfig(path)) return null;
  const prefixes = args.flatMap((line) =>
    line.startsWith('ref-prefix ') ? [line.slice('ref-prefix '.length)] : [],
  );
  const words = new Set(args.filter((line) => !line.startsWith('ref-prefix ')));
  const [, target] = /^ref: (refs\/\S+)\n$/.exec(readFileSync(join(path, 'HEAD'), 'utf8')) ?? [];
  if (target === undefined || [...words].some((word) => !LS_REFS_WORDS.has(word))) return null;
  const refs = readRefs(path);
  // Only the object of an annotated tag tells which object the tag names.
  if (words.has('peel') && [...refs.keys()].some((name) => !/^refs\/(heads|pull)\//.test(name))) return null;
  const isWanted = (name: string): boolean =>
    prefixes.length === 0 || prefixes.some((prefix) => name.startsWith(prefix));
  const symref = words.has('symrefs') ? ` symref-target:${target}` : '';
  const head = refs.get(target);
  const isUnbornTold = head === undefined && words.has('unborn');
  return [
    ...(isWanted('HEAD') && (head !== undefined || isUnbornTold)
      ? [`${head ?? 'unborn'} HEAD${symref}`]
      : []),
    ...[...refs].flatMap(([name, oid]) => (isWanted(name) ? [`${oid} ${name}`] : [])),
  ]
    .map(pktLine)
    .join('')
    .concat('0000');
}

function runDiscovery(path: string, service: string, protocol: string): Promise<Buffer> {
  const args = [service.replace('git-', ''), '--stateless-rpc', '--http-backend-info-refs', path];
  return mustRunGit(path, args, { env: { GIT_PROTOCOL: protocol } });
}
