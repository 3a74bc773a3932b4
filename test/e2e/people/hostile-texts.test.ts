/** Texts that cost far more to read than to send, if whoever reads them is careless: each gets its answer at once. */
import { expect, it } from 'vitest';
import { HOSTILE_MESSAGES } from '../../support/hostile-messages.ts';
import { contribute, expectRefused } from '../support/contribution.ts';
import { remoteLines } from '../support/push-output.ts';
import { useTestBed } from '../support/test-bed.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useTestBed();

/** What is quadratic takes hours for it. */
const LARGE = 9_000_000;

it(
  'a push of some kilobytes whose message is 9 MB of slashes is refused with its reason',
  exhaustive,
  async () => {
    const { upstream, clone } = await contribute(bed);
    await clone.commit({ message: HOSTILE_MESSAGES['slashes behind the word of a merge']?.(LARGE) ?? '' });
    const reason = 'names of your branches or remotes would become public';
    const lines = await expectRefused(bed, upstream, await clone.push(), reason);
    expect(lines).toContainEqual(expect.stringMatching(/^ {2}message of "Merge \/{100,}…": Merge \/+…$/));
  },
);

it(
  'a push whose commit has 1 MB of carriage returns in its header is taken for what it is',
  exhaustive,
  async () => {
    const { clone } = await contribute(bed);
    const tip = await clone.commitObject({
      tree: await clone.tree(),
      parents: [await clone.git('rev-parse', 'HEAD')],
      headers: [`x ${'\rauthor '.repeat(125_000)}`],
      message: 'Mend it\n',
    });
    const pushed = await clone.push('-o', 'preview', 'origin', `${tip}:refs/heads/topic`);
    expect(remoteLines(pushed)).toContain('This push would open a pull request:');
  },
);
