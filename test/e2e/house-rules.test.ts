/** What a repository asks of contributors: known before anything is public, and told to the person. */
import { describe, expect, it } from 'vitest';
import { contribute, expectAccepted, expectRefused } from './support/contribution.ts';
import { remoteLines } from './support/push-output.ts';
import { useTestBed } from './support/test-bed.ts';

const bed = useTestBed();

describe('a repository whose list of vouched accounts denounces the bot', () => {
  it('gets no write of a push, which is told why, and what is left', async () => {
    const { upstream, clone } = await contribute(bed);
    await upstream.grow({
      files: { '.github/VOUCHED.td': `alice\n-github:${bed.sandbox.botLogin} no bots\n` },
    });
    await clone.commit();
    const lines = await expectRefused(bed, upstream, await clone.push(), 'not accepted by the repository');
    expect(lines).toContain(
      `${upstream.fullName} takes no pull requests of the bot: its .github/VOUCHED.td denounces it, with these words: "no bots".`,
    );
    expect(lines.join('\n')).toContain(`You can open an issue instead: ${bed.service.url}/v1/gh/`);
    expect(bed.host.forkPath(upstream)).toBeNull();
  });
});

describe('a repository with a list of vouched accounts', () => {
  it('tells a push, and a preview, that a gate may close it, and no update', async () => {
    const { upstream, clone } = await contribute(bed);
    await upstream.grow({ files: { 'VOUCHED.td': 'alice\n' } });
    await clone.commit();
    const gate = `${upstream.fullName} has a list of vouched accounts, VOUCHED.td, without ${bed.sandbox.botLogin}: a gate may close this pull request. A maintainer vouches with a line "${bed.sandbox.botLogin}" in that file.`;
    expect(remoteLines(await clone.push('-o', 'preview', 'origin', 'HEAD:topic'))).toContain(gate);
    const pushed = await clone.push('origin', 'HEAD:topic');
    const { banner } = await expectAccepted(bed, { upstream, clone }, pushed);
    expect(remoteLines(pushed)[0]).toBe(gate);
    await clone.commit();
    const updated = await clone.push('-o', `pr-hash=${banner.prHash}`, 'origin', 'HEAD:topic');
    expect(updated.code).toBe(0);
    expect(remoteLines(updated)).not.toContain(gate);
  });

  it('is told nothing where the bot is on it', async () => {
    const { upstream, clone } = await contribute(bed);
    await upstream.grow({ files: { 'VOUCHED.td': `${bed.sandbox.botLogin.toUpperCase()}\n` } });
    await clone.commit();
    const pushed = await clone.push();
    await expectAccepted(bed, { upstream, clone }, pushed);
    expect(remoteLines(pushed).join()).not.toContain('VOUCHED');
  });
});

it('a push costs at most one more call where there is a list', async () => {
  const { upstream, clone } = await contribute(bed);
  await upstream.grow({
    files: { 'VOUCHED.td': '', '.github/x': '', 'docs/y': '', '.gitveil.yml': 'accept: true\n' },
  });
  await clone.commit();
  await expectAccepted(bed, { upstream, clone }, await clone.push());
  const read = bed.host.requestsFor(upstream, 'GET', /\/repos\/[^/]+\/[^/]+(?:\/contents.*)?$/);
  // What it was before: the repository twice, .gitveil.yml and .gitmodules.
  expect(read.map(({ path }) => path).toSorted()).toHaveLength(4 + 1);
});
