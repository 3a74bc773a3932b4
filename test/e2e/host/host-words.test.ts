/**
 * A code host that names the address that it was asked from: that is where an onion service stands,
 * and nobody reads it.
 */
import { describe, expect, it } from 'vitest';
import { NOT_ALLOWED_GIT, NOT_ALLOWED_REST } from '../../../sandbox/known-answers.ts';
import { withWork } from '../support/failing-host.ts';
import { useOwnTestBed } from '../support/test-bed.ts';

const bed = useOwnTestBed();

const ADDRESS = /203\.0\.113\.77|2001:db8|\b7348\b/i;
const SAID = /and \[removed\] is not permitted/;

function expectNoAddress(shown: string): void {
  expect(shown).not.toMatch(ADDRESS);
  expect(bed.logLines.join('\n')).not.toMatch(ADDRESS);
}

describe('the address that a host names', () => {
  it('is in no answer to a push that its REST interface refuses, and not in the log', async () => {
    const { upstream, clone } = await withWork(bed);
    const path = new RegExp(`/repos/${upstream.fullName}/forks$`);
    bed.sandbox.faults.inject({ method: 'POST', path, answer: NOT_ALLOWED_REST });
    const pushed = await clone.push();
    expect(pushed.code).toBe(1);
    await expect.poll(() => bed.logLines.join('\n')).toContain('is not permitted');
    expect(pushed.stderr).toMatch(SAID);
    expectNoAddress(pushed.stderr);
  });

  it('is in no answer to a clone', async () => {
    const upstream = await bed.createUpstream();
    const person = bed.person();
    for (const path of [/\/info\/refs$/, /\/git-upload-pack$/]) {
      bed.sandbox.faults.inject({ path, answer: NOT_ALLOWED_GIT });
      const { stderr, code } = await person.git(person.home, ['clone', upstream.url, 'clone']);
      expect(code).not.toBe(0);
      expect(stderr).toContain('403');
      expectNoAddress(stderr);
    }
    bed.sandbox.faults.inject({ path: /\/git-upload-pack$/, answer: NOT_ALLOWED_GIT });
    const headers = { 'Content-Type': 'application/x-git-upload-pack-request' };
    const answer = await fetch(`${upstream.url}/git-upload-pack`, { method: 'POST', headers, body: '0000' });
    const shown = await answer.text();
    expect(shown).toMatch(SAID);
    expectNoAddress(shown);
  });

  it('is in no page for browsers, as a proxy in front of a host shows one', async () => {
    const upstream = await bed.createUpstream();
    const headers = { 'content-type': 'text/html' };
    const answer = { status: 403, headers, body: '<p>Your IP: 203.0.113.77</p>' };
    for (const userAgent of ['git/2.39.5', 'isomorphic-git/1.44.11']) {
      bed.sandbox.faults.inject({ path: /\/info\/refs$/, answer });
      const url = `${upstream.url}/info/refs?service=git-upload-pack`;
      const shown = await fetch(url, { headers: { 'User-Agent': userAgent } });
      expect(shown.status).toBe(403);
      const page = await shown.text();
      expect(page).toMatch(/answers with an error \(HTTP 403\)/);
      expectNoAddress(page);
    }
  });
});
