/**
 * The panic switch, as a person with Git meets it: what test/contract/admin.test.ts does not have.
 */
import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { contribute, expectRefused } from '../support/contribution.ts';
import { postTo } from '../support/door.ts';
import { Operator, OPERATOR } from '../support/operator.ts';
import type { Person } from '../support/person.ts';
import { statusTable } from '../support/push-output.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { pushBody, RECEIVE_PACK, send, type WireAnswer } from '../support/wire.ts';
import { pkt, readReport } from '../../support/pkt-line.ts';

const bed = useOwnTestBed({ env: OPERATOR });
const operator = new Operator(bed);

const SUSPENSION = [
  'SERVICE TEMPORARILY SUSPENDED',
  'The service is suspended due to detected bot activity sending mass PRs.',
  'Please retry in 15 minutes.',
];

const INVALID_OPTIONS = pushBody({
  commands: [{ newId: 'a'.repeat(40), ref: 'refs/heads/fix' }],
  options: ['pr-hash=x'],
  pack: Buffer.alloc(0),
});

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
  it('every ref gets the reason, and also a pack of more than a megabyte', async () => {
    const { clone, upstream } = await contribute(bed);
    await clone.commit({ files: { 'large.bin': randomBytes(3_000_000) } });
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
    ['more than a probe', Buffer.from('00000000')],
    ['a broken gzip', gzipSync(pkt('x')).subarray(0, 12), { 'Content-Encoding': 'gzip' }],
    ['an unknown encoding', Buffer.from('x'), { 'Content-Encoding': 'br' }],
    ['another type', Buffer.from('a=1'), { 'Content-Type': 'application/x-www-form-urlencoded' }],
    ['options that are invalid', INVALID_OPTIONS],
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

  it.each(['bundle', 'patch'] as const)(
    'a %s gets the reason, and nothing is asked of the host',
    async (door) => {
      const { upstream, person } = await contribute(bed);
      await operator.setPanic(true);
      const asked = () => bed.host.requests.filter(({ path }) => path.includes(upstream.fullName)).length;
      const before = asked();
      const answer = await postTo(bed, person, upstream, door, 'diff --git a/x b/x\n', 'title=x');
      await operator.setPanic(false);
      expect(asked()).toBe(before);
      expect(answer.status).toBe(503);
      for (const line of SUSPENSION) expect(answer.text).toContain(line);
      expect(answer.text).toMatch(/push rejected: service temporarily suspended\n$/);
    },
  );
});
