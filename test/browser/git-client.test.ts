/**
 * A Git client in a web page of somebody else may ask for refs and push, without a proxy in
 * between.
 */
import { expect, it } from 'vitest';
import { contribute } from '../e2e/support/contribution.ts';
import { useTestBed } from '../e2e/support/test-bed.ts';
import { packOf, pushBody } from '../e2e/support/wire.ts';
import { describeInBrowser, useChromium } from './support/chromium.ts';
import { exhaustive } from '../support/exhaustive.ts';

const bed = useTestBed();
const chromium = useChromium();

/** Sends what isomorphic-git sends: the requests that a browser asks about first are among them. */
const PUSH = `(async ([url, body]) => {
  const headers = { 'Git-Protocol': 'version=2' };
  const discovery = await fetch(url + '/info/refs?service=git-receive-pack');
  const fetched = await fetch(url + '/info/refs?service=git-upload-pack', { headers });
  const pushed = await fetch(url + '/git-receive-pack', {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-git-receive-pack-request' },
    body: Uint8Array.from(atob(body), (character) => character.charCodeAt(0)),
  });
  return [discovery, fetched, pushed].reduce(async (texts, answer) => [...(await texts), await answer.text()], []);
})`;

describeInBrowser('a Git client in a page', () => {
  it('opens a pull request, and reads the answers', exhaustive, async () => {
    const { upstream, clone } = await contribute(bed);
    await clone.commit({ message: 'Written in a page\n' });
    const newId = await clone.git('rev-parse', 'HEAD');
    const pack = await packOf(clone, ['HEAD', '^HEAD~1']);
    const body = pushBody({ commands: [{ newId, ref: 'refs/heads/topic' }], pack });
    const page = await chromium.newPage({ baseURL: bed.service.url });
    const asked = JSON.stringify([upstream.url, Buffer.from(body).toString('base64')]);
    const [refs, version, report] = await page.evaluate<string[]>(`${PUSH}(${asked})`);
    expect(refs).toContain('report-status');
    expect(version).toContain('version 2');
    expect(report).toContain('unpack ok');
    expect((await bed.host.onlyPull(upstream)).title).toBe('Written in a page');
    // Pages of other sites have two pushes an hour, whatever becomes of them.
    const reports: (string | undefined)[] = [];
    for (const _ of ['second', 'third'])
      reports.push((await page.evaluate<string[]>(`${PUSH}(${asked})`)).at(-1));
    const isFull = reports.map((text) => text?.includes('rate limit exceeded'));
    expect(isFull).toEqual([false, true]);
  });
});
