/** Stories of people who change a pull request of theirs that is open. */
import { expect } from 'vitest';
import type { TestBed } from '../../e2e/support/test-bed.ts';
import { git } from '../git/client.ts';
import type { GitClient } from '../support/client.ts';
import type { Contributor } from '../support/contributor.ts';
import { type Act, type Story, TOPIC, withTopic } from './story.ts';

/** An open pull request, and what to do about it with a push option. */
async function opened(bed: TestBed, client: GitClient) {
  const at = await withTopic(bed, client);
  const first = await at.expectAccepted(await at.push([TOPIC]));
  const { prHash, prKey } = first.banner;
  return { at, first, option: `pr-hash=${prHash}`, key: `pr-key=${prKey}` };
}

/** Who pushes: the client, or git in the same clone where the client cannot. */
type Pushing = Pick<Contributor, 'push'>;

const itself = (at: Contributor): Pushing => at;
const byGit = (at: Contributor): Pushing => at.with(git);

const update =
  (pushing: (at: Contributor) => Pushing, refspec = TOPIC): Act =>
  async (bed, client) => {
    const { at, first, option } = await opened(bed, client);
    await at.commit({ message: 'Say more' });
    const second = await at.expectAccepted(await pushing(at).push([refspec], [option]));
    expect(second.pull.number).toBe(first.pull.number);
    expect(second.commits[0]?.oid, 'a commit that was there keeps its id').toBe(first.commits[0]?.oid);
    expect(await bed.host.pulls(at.upstream)).toHaveLength(1);
  };

const withdrawal =
  (pushing: (at: Contributor) => Pushing): Act =>
  async (bed, client) => {
    const { at, first, option, key } = await opened(bed, client);
    const tip = await at.upstream.tip();
    const { isOk, output } = await pushing(at).push([':refs/heads/main'], [option, key]);
    expect(isOk, output).toBe(true);
    expect(output).toContain('Your pull request is withdrawn.');
    expect(await bed.host.onlyPull(at.upstream)).toMatchObject({ state: 'closed' });
    expect(await bed.host.workBranches(at.upstream)).not.toContain(first.banner.branch);
    expect(await at.upstream.tip()).toBe(tip);
  };

export const changes: readonly Story[] = [
  {
    name: 'update',
    act: update(itself),
    needs: {
      'push-options': { name: 'git updates it from the same clone', act: update(byGit) },
      'same-branch-again': {
        name: 'it updates under another name',
        act: update(itself, 'refs/heads/topic:refs/heads/topic-2'),
      },
    },
  },
  {
    name: 'withdrawal',
    act: withdrawal(itself),
    needs: {
      'push-options': { name: 'git withdraws it from the same clone', act: withdrawal(byGit) },
    },
  },
];
