/** A credential tells its issuer whose it is, and hosts report what they find: what is proven to be one does not leave. */
import { describe, expect, it } from 'vitest';
import { LIKELY, PROVEN } from '../../support/made-up-credentials.ts';
import { contribute, expectAccepted, expectRefused } from '../support/contribution.ts';
import { remoteLines } from '../support/push-output.ts';
import { useTestBed } from '../support/test-bed.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useTestBed();

const REASON = 'a credential would become public';
const LOOKS =
  'This looks like a credential, by which its issuer knows you. Check it before it becomes public:';

it.each(Object.entries(PROVEN))('%s is refused, and can be published on purpose', async (_, make) => {
  const contribution = await contribute(bed);
  const { clone, upstream } = contribution;
  const secret = make();
  await clone.commit({ files: { 'deploy/run.sh': `KEY='${secret}'\n` } });
  const lines = await expectRefused(bed, upstream, await clone.push(), REASON);
  expect(lines.join('\n')).toMatch(/deploy\/run\.sh: a (?:token|private key)/);
  expect(lines).toContain('To publish it anyway, add: -o publish-names');
  expect(bed.host.requestsFor(upstream, 'POST', /receive-pack$|\/forks$/)).toEqual([]);
  if (secret.includes('-----BEGIN '))
    bed.tripwire.tolerate('published on purpose', (leak) => leak.secret.kind === 'signature');
  await expectAccepted(bed, contribution, await clone.push('-o', 'publish-names', 'origin', 'HEAD:topic'));
});

it.each(Object.entries(LIKELY))('%s is only told, before it is published', async (_, make) => {
  const contribution = await contribute(bed);
  const { clone } = contribution;
  await clone.commit({ files: { 'deploy/run.sh': `KEY='${make()}'\n` } });
  const preview = await clone.push('-o', 'preview', 'origin', 'HEAD:topic');
  expect(remoteLines(preview)).toContain(LOOKS);
  const pushed = await clone.push();
  expect(remoteLines(pushed)).toContain(LOOKS);
  await expectAccepted(bed, contribution, pushed);
});

describe('a push with more places that look like a credential than are looked at', () => {
  const urls = Array.from({ length: 3_000 }, (_, at) => `git://ada:lovelace${at}@git.org/x\n`).join('');
  const NOT_FURTHER =
    'Not searched further for a password in an address: there is too much to look at. Check the rest yourself: git log -p HEAD --not --remotes';

  it('is told so before it is published', async () => {
    const contribution = await contribute(bed);
    const { clone } = contribution;
    await clone.commit({ files: { 'vendor/mirrors.txt': urls } });
    const pushed = await clone.push();
    expect(remoteLines(pushed)).toEqual(expect.arrayContaining([NOT_FURTHER, LOOKS]));
    await expectAccepted(bed, contribution, pushed);
  });

  it('is refused all the same for one of another kind behind them', async () => {
    const { clone, upstream } = await contribute(bed);
    const secret = PROVEN['of npm']?.() ?? '';
    await clone.commit({ files: { 'vendor/mirrors.txt': `${urls}TOKEN=${secret}\n` } });
    const lines = await expectRefused(bed, upstream, await clone.push(), REASON);
    expect(lines).toContain(NOT_FURTHER);
    expect(lines.join('\n')).toMatch(/vendor\/mirrors\.txt: a token of npm/);
  });

  it('is told nothing of what is no more than a beginning, however often it stands there', async () => {
    const contribution = await contribute(bed);
    const { clone } = contribution;
    const files = { 'a.txt': '://'.repeat(3_000_000), 'b.txt': ' AKIA'.repeat(2_000_000) };
    await clone.commit({ files });
    const pushed = await clone.push();
    await expectAccepted(bed, contribution, pushed);
    expect(remoteLines(pushed).join('\n')).not.toContain('Not searched further');
  });
});

it('that upstream has in this file already is no news', exhaustive, async () => {
  const secret = PROVEN['of npm']?.() ?? '';
  const upstream = await bed.createUpstream();
  await upstream.grow({ files: { 'a.env': `TOKEN=${secret}\n` } });
  const clone = await bed.person().copy(upstream);
  await clone.commit({ files: { 'a.env': `# The token\nexport TOKEN=${secret}\n` } });
  const pushed = await clone.tryGit('-c', 'pack.window=0', 'push', 'origin', 'HEAD:topic');
  await expectAccepted(bed, { clone, upstream }, pushed);
  expect(remoteLines(pushed).join('\n')).not.toContain('credential');
});
