import { describe, expect, it } from 'vitest';
import { useTestBed } from '../e2e/support/test-bed.ts';
import { jj, jujutsu } from './jj/client.ts';
import { Contributor } from './support/contributor.ts';
import { describeClient } from './support/matrix.ts';

describeClient(jujutsu);

describe.skipIf(jujutsu.kind === 'missing')('a bookmark of jj', () => {
  const bed = useTestBed();

  /** A bookmark that was pushed, and its pull request. */
  async function pushed() {
    if (jujutsu.kind === 'missing') throw new Error(jujutsu.reason);
    const at = await Contributor.start(bed, jujutsu.client);
    const perform = async (...args: string[]) => (await jj(at.person, at.clone.path, ...args)).output;
    await at.switchTo('topic');
    await at.commit();
    const { banner, pull } = await at.expectAccepted(await at.push(['refs/heads/topic:refs/heads/topic']));
    return { at, perform, option: `--option=pr-hash=${banner.prHash}`, pull };
  }

  it('that was pushed is not pushed again, as jj awaits it upstream', async () => {
    const { at, perform, option } = await pushed();
    await at.commit({ message: 'Say more' });
    expect(await perform('git', 'push', '--bookmark=topic', option)).toContain('stale info');
  });

  it('that was pushed is gone after a fetch, with its commits; jj undo brings them back', async () => {
    const { perform } = await pushed();
    expect(await perform('git', 'fetch')).toContain('bookmark: topic@origin [deleted]');
    expect(await perform('bookmark', 'list')).not.toContain('topic');
    await perform('undo');
    expect(await perform('bookmark', 'list')).toContain('topic');
  });

  it('that is forgotten after a push survives a fetch, and is pushed again', async () => {
    const { at, perform, option, pull } = await pushed();
    await perform('bookmark', 'forget', 'topic', '--include-remotes');
    expect(await perform('git', 'fetch')).toContain('Nothing changed.');
    expect(await perform('log', '--no-graph', '--revisions=@-')).toContain('Change something');
    await perform('describe', '@-', '--message=Say it better');
    const again = await jj(at.person, at.clone.path, 'git', 'push', '--named=topic=@-', option);
    expect((await at.expectAccepted(again)).pull).toMatchObject({ number: pull.number });
  });
});
