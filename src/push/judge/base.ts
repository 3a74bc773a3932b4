/** Which of upstream's branches the pull request is for. */
import type { Ref } from '../../git/wire/ref-advertisement.ts';
import type { PushTarget } from '../../git/wire/ref-name.ts';
import { hostText } from '../../host-error.ts';
import { fullName } from '../../repository-name.ts';
import { Refusal } from '../reply/refusal.ts';
import type { Questions } from './questions.ts';
import type { OpenUpstream, Upstream } from './upstream.ts';

export interface Base {
  readonly ref: Ref;
  /** Whether the person named it. If not, an open pull request keeps its base. */
  readonly isNamed: boolean;
}

/**
 * The base branch, the first of these that exists: the option `base`; the branch after `refs/for/`; the present base of
 * an open pull request; the upstream branch with the pushed branch's name; the default branch.
 * @param current the base of the open pull request that is updated. @throws Refusal
 */
export async function chooseBase(
  questions: Questions,
  target: PushTarget,
  option: string | null,
  current: string | null,
  upstream: OpenUpstream,
): Promise<Base> {
  const named = option ?? (target.kind === 'for' ? target.base : null);
  if (named === null) {
    const present = current === null ? null : await findBranch(questions, upstream, current);
    // The host is never asked for this name, because the person may have chosen it for themselves alone.
    const own = target.kind === 'branch' ? findListed(upstream, target.branch) : null;
    return { ref: present ?? own ?? upstream.defaultBranch, isNamed: false };
  }
  const ref = await findBranch(questions, upstream, named);
  if (ref !== null) return { ref, isNamed: true };
  throw new Refusal('base', 'there is no such base branch', [
    `${fullName(upstream.repository)} has no branch "${hostText(named)}". Name an existing branch with -o base=<branch>.`,
  ]);
}

function findListed({ refs }: Upstream, branch: string): Ref | null {
  return refs.find(({ name }) => name === `refs/heads/${branch}`) ?? null;
}

async function findBranch(questions: Questions, upstream: Upstream, branch: string): Promise<Ref | null> {
  const listed = findListed(upstream, branch);
  return listed !== null || upstream.hasAllBranches ? listed : questions.findBranch(branch);
}
