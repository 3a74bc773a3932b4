/**
 * Pushes whose commit names a tree that is nowhere: only the host notices, and then the fork is
 * made. What it costs when one client sends many.
 */
import { expect, it } from 'vitest';
import { buildPack, oidOf } from '../../support/pack-builder.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import type { Upstream } from '../support/upstream.ts';
import { pushBody, RECEIVE_PACK, send } from '../support/wire.ts';
import { exhaustive } from '../../support/exhaustive.ts';
import { readReport } from '../../support/pkt-line.ts';

const PUSHES = 16;
const MOST_FORKS = 10;

const bed = useOwnTestBed();

async function pushWithoutTree(upstream: Upstream, address: string) {
  const content = Buffer.from(
    [
      `tree ${oidOf('tree', Buffer.from(upstream.name))}`,
      `parent ${await upstream.tip()}`,
      'author Nobody <nobody@nowhere.example> 1700000000 +0000',
      'committer Nobody <nobody@nowhere.example> 1700000000 +0000',
      '',
      'Change nothing\n',
    ].join('\n'),
  );
  const { bytes: pack } = buildPack([{ type: 'commit', content }]);
  const body = pushBody({ commands: [{ newId: oidOf('commit', content), ref: 'refs/heads/fix' }], pack });
  const headers = { 'Content-Type': RECEIVE_PACK, 'CF-Connecting-IP': address };
  return readReport((await send(`${upstream.url}/git-receive-pack`, { method: 'POST', headers, body })).body);
}

it.each([
  ['one address', () => '192.0.2.40'],
  ['the networks of one IPv6 /48', (at: number) => `2001:db8:40:${at}::1`],
])('16 of %s to as many repositories make ten forks', exhaustive, async (_, addressOf) => {
  const upstreams = await Promise.all(
    Array.from({ length: PUSHES }, () => bed.createUpstream({ commits: 1 })),
  );
  const before = bed.host.requests.length;
  const errors: string[] = [];
  for (const [index, upstream] of upstreams.entries()) {
    errors.push(...(await pushWithoutTree(upstream, addressOf(index))).errors);
  }
  expect(errors).toHaveLength(PUSHES);
  expect(errors.filter((error) => !error.endsWith('too many forks'))).toHaveLength(MOST_FORKS);
  const forking = bed.host.requests
    .slice(before)
    .filter(({ method, path }) => method === 'POST' && path.endsWith('/forks'));
  expect(upstreams.filter((upstream) => bed.host.forkPath(upstream) !== null)).toHaveLength(MOST_FORKS);
  expect(forking.length).toBeLessThanOrEqual(MOST_FORKS);
});

it('16 of one address to one repository ask for its fork once', exhaustive, async () => {
  const upstream = await bed.createUpstream({ commits: 1 });
  for (let index = 0; index < PUSHES; index++) {
    expect((await pushWithoutTree(upstream, '192.0.2.41')).errors).toHaveLength(1);
  }
  expect(bed.host.requestsFor(upstream, 'POST', /\/forks$/)).toHaveLength(1);
  expect(bed.host.requestsFor(upstream, 'POST', /\/pulls$/)).toEqual([]);
});
