/** The panic switch, as a person with Git meets it. */
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { contribute, expectAccepted, expectRefused } from '../support/contribution.ts';
import { Operator, OPERATOR } from '../support/operator.ts';
import type { Person } from '../support/person.ts';
import { statusTable } from '../support/push-output.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { pushBody, RECEIVE_PACK, send, type WireAnswer } from '../support/wire.ts';
import { exhaustive } from '../../support/exhaustive.ts';
import { pkt, readReport } from '../../support/pkt-line.ts';

const bed = useOwnTestBed({ env: OPERATOR });
const operator = new Operator(bed);

const SUSPENSION = [
  'SERVICE TEMPORARILY SUSPENDED',
  'The service is suspended due to detected bot activity sending mass PRs.',
  'Please retry in 15 minutes.',
];

function soundCommands(options: readonly string[]): Buffer {
  const commands = [{ newId: 'a'.repeat(40), ref: 'refs/heads/fix' }];
  return pushBody({ commands, options, pack: Buffer.alloc(0) });
}

async function post(
  url: string,
  person: Person,
  body: Uint8Array,
  more: Readonly<Record<string, string>> = {},
): Promise<WireAnswer> {
  const headers = { 'Content-Type': RECEIVE_PACK, ...more };
  const answer = await send(`${url}/git-receive-pack`, { method: 'POST', person, headers, body });
  expect(answer.status).toBe(200);
  expect(answer.headers['content-type']).toBe('application/x-git-receive-pack-result');
  return answer;
}

describe('in panic mode', () => {
  it('a push is rejected with the reason, before the host is asked for anything', exhaustive, async () => {
    const contribution = await contribute(bed);
    const { clone, upstream } = contribution;
    await clone.commit();
    await operator.setPanic(true);
    // As after a fetch, so that discovery asks nothing new either.
    await clone.git('fetch', 'origin');
    const before = bed.host.requests.length;
    const pushed = await clone.push();
    const lines = await expectRefused(bed, upstream, pushed, 'service temporarily suspended');
    expect(lines).toEqual(expect.arrayContaining(SUSPENSION));
    const asked = bed.host.requests.slice(before).map(({ path }) => path);
    expect(asked.filter((path) => !path.includes('/info/refs') && !path.includes('git-upload-pack'))).toEqual(
      [],
    );
    await operator.setPanic(false);
    await expectAccepted(bed, contribution, await clone.push());
  });

  it('every ref gets the reason, and also a pack of more than a megabyte', async () => {
    const { clone, upstream } = await contribute(bed);
    await clone.commit({ files: { 'large.bin': new Uint8Array(3_000_000).map(() => Math.random() * 256) } });
    await clone.git('tag', '-m', 'Version one', 'v1');
    await operator.setPanic(true);
    const pushed = await clone.push('origin', 'HEAD:refs/heads/one', 'v1');
    await operator.setPanic(false);
    await expectRefused(bed, upstream, pushed, 'service temporarily suspended');
    expect(statusTable(pushed)).toHaveLength(2);
    for (const row of statusTable(pushed))
      expect(row).toMatch(/\(push rejected: service temporarily suspended\)$/);
  });

  it.each<[what: string, body: Uint8Array, headers?: Readonly<Record<string, string>>]>([
    ['an empty body', Buffer.alloc(0)],
    ['a malformed command', Buffer.concat([pkt('no command'), pkt(null), pkt(null)])],
    ['half a pkt-line', Buffer.from('00a0half')],
    ['no pkt-lines', Buffer.from('what is this?')],
    ['more than a probe', Buffer.from('00000000')],
    ['a broken gzip', gzipSync(pkt('x')).subarray(0, 12), { 'Content-Encoding': 'gzip' }],
    ['an unknown encoding', Buffer.from('x'), { 'Content-Encoding': 'br' }],
    ['another type', Buffer.from('a=1'), { 'Content-Type': 'application/x-www-form-urlencoded' }],
    ['options that are invalid', soundCommands(['pr-hash=x'])],
    ['commands without a pack', soundCommands([])],
  ])('%s gets the reason, too', async (_, body, headers = {}) => {
    const { upstream, person } = await contribute(bed);
    await operator.setPanic(true);
    const asked = () => bed.host.requests.filter(({ path }) => path.includes(upstream.fullName)).length;
    const before = asked();
    const answer = await post(upstream.url, person, body, headers);
    await operator.setPanic(false);
    expect(asked()).toBe(before);
    const { progress, errors } = readReport(answer.body);
    expect(progress.filter(Boolean)).toEqual(SUSPENSION);
    expect(errors).toEqual(['push rejected: service temporarily suspended']);
  });

  it('the probe is no push', async () => {
    const { upstream, person } = await contribute(bed);
    await operator.setPanic(true);
    const answer = await post(upstream.url, person, pkt(null));
    await operator.setPanic(false);
    expect(answer.body).toHaveLength(0);
  });

  it('a clone works, and the status tells', async () => {
    const upstream = await bed.createUpstream();
    await operator.setPanic(true);
    const status = await fetch(`${bed.service.url}/api/status`);
    await bed.person().clone(upstream.url);
    await operator.setPanic(false);
    expect(await status.json()).toEqual({ panic_mode: true });
  });
});
