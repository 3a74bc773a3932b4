/** Reports from persons with addresses of their own, and what becomes of the reported comments on the host. */
import { describe, expect, it } from 'vitest';
import type { Person } from '../support/person.ts';
import { comment, commentsOn, report, speak } from '../support/speak.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useOwnTestBed();

/** Someone with so many comments on a thread of its own. */
async function commenter(count: number) {
  const upstream = await bed.createUpstream({ commits: 0 });
  const author = bed.person();
  const issues = `/v1/gh/${upstream.fullName}/issues/anonymous`;
  const { body: issue } = await speak(bed, author, issues, { title: 'A thread', body: 'to talk on' });
  const thread = `${upstream.fullName}/issues/1`;
  const token = issue['user_token'];
  for (let index = 0; index < count; index++) await comment(bed, author, thread, `${index}`, token);
  return { upstream, author, thread, token, hash: issue['hash'] };
}

const others = (count: number): Person[] => Array.from({ length: count }, () => bed.person());

describe('reports', () => {
  it('of three addresses flag: karma 0 under every comment, and a cooldown; of six, block: all is deleted', async () => {
    const { author, thread, token, hash } = await commenter(2);
    const [first, ...rest] = others(6) as [Person, ...Person[]];
    expect((await report(bed, first, hash)).body).toMatchObject({ reports: 1, state: 'registered' });
    for (const person of rest.slice(0, 2)) await report(bed, person, hash);
    const [refused] = [await comment(bed, author, thread, 'again', token)];
    expect(refused).toMatchObject({ status: 429, body: { error: 'cooldown activo por reportes' } });
    await expect
      .poll(async () => (await commentsOn(bed, thread)).map((text) => /karma \((\d+)\)/.exec(text)?.[1]))
      .toEqual(['0', '0']);
    expect((await commentsOn(bed, thread)).map((text) => text.split('\n')[0])).toEqual(['0', '1']);

    for (const person of rest.slice(2)) await report(bed, person, hash);
    const blocked = await comment(bed, author, thread, 'again', token);
    expect(blocked).toMatchObject({ status: 403, body: { error: 'hash bloqueado por reportes' } });
    await expect.poll(() => commentsOn(bed, thread)).toEqual([]);
  });

  it('count once for an address, whatever else a client claims to be', async () => {
    const { hash } = await commenter(1);
    const person = bed.person();
    const claims = [
      {},
      { 'X-Forwarded-For': '203.0.113.250' },
      { 'X-Real-IP': '203.0.113.251', Forwarded: 'for=203.0.113.251' },
      { 'True-Client-IP': '203.0.113.252', 'User-Agent': 'another' },
    ];
    for (const headers of claims) {
      expect((await report(bed, person, hash, headers)).body).toMatchObject({ reports: 1 });
    }
  });

  it('count once for a network of IPv6', async () => {
    const { hash } = await commenter(1);
    const person = bed.person();
    const from = (address: string) => report(bed, person, hash, { 'CF-Connecting-IP': address });
    await from('2001:db8:1:2::1');
    expect((await from('2001:db8:1:2:ffff::2')).body).toMatchObject({ reports: 1 });
    expect((await from('2001:db8:1:3::1')).body).toMatchObject({ reports: 2 });
  });

  it('are carried out when the host is back, past a comment that someone has deleted', async () => {
    const { upstream, thread, hash } = await commenter(3);
    const comments = await bed.host.call<{ id: number }[]>('GET', `/repos/${thread}/comments`);
    bed.sandbox.maintainer.deleteComment(upstream.owner, upstream.name, comments[1]!.id);
    bed.sandbox.faults.inject({
      method: 'DELETE',
      path: /\/comments\//,
      answer: { status: 403, headers: { 'retry-after': '1' }, body: { message: 'slow down' } },
    });
    for (const person of others(6)) await report(bed, person, hash);
    await expect.poll(() => commentsOn(bed, thread)).toEqual([]);
  });

  it('delete a comment also if the host says once that it is not there', exhaustive, async () => {
    const { thread, hash } = await commenter(1);
    const answer = { status: 404, body: { message: 'Not Found' } };
    bed.sandbox.faults.inject({ method: 'DELETE', path: /\/comments\//, answer });
    for (const person of others(6)) await report(bed, person, hash);
    await expect.poll(() => commentsOn(bed, thread)).toEqual([]);
  });
});
