/** What a push can reveal of its author, and the refusal that says so. */
import { Refusal } from '../../reply/refusal.ts';

export interface Leak {
  /** For the status table. */
  readonly reason: string;
  /** The line before the places where it was found. */
  readonly heading: string;
  /** What it is, and how to remove it. */
  readonly advice: readonly string[];
}

export const NAMES: Leak = {
  reason: 'your name would become public',
  heading: 'Your name or address would become public:',
  advice: [
    'Remove it and push again: "git commit --amend" changes the last commit, "git rebase -i" earlier ones.',
  ],
};

export const OTHERS_NAMES: Leak = {
  reason: 'the name of another author would become public',
  heading: 'The name or address of an author other than the newest commit’s would become public:',
  advice: NAMES.advice,
};

export const ORIGINAL_IDS: Leak = {
  reason: 'original commit ids would become public',
  heading: 'The original id of a commit would become public:',
  advice: [
    'An original id was made from your name and the time, so anybody can use it to test a guess at who you are. And it leads',
    'nowhere, because the service gives your commits other ids. Remove it and push again.',
  ],
};

export const CHANGE_IDS: Leak = {
  reason: 'a Change-Id would become public',
  heading: 'A Change-Id would become public:',
  advice: [
    'Gerrit’s hook makes a Change-Id from your name, your address, the time and your time zone, so anybody can use it to test',
    'a guess at who you are. Remove its line from the last commit with "git -c gerrit.createChangeId=false commit --amend",',
    'from earlier ones with "git -c gerrit.createChangeId=false rebase -i". Without that setting, the hook adds another one.',
    'Did "git cherry-pick" copy it from a commit of upstream? Then it is public already, and its line can be deleted safely.',
  ],
};

export const MERGES: Leak = {
  reason: 'names of your branches or remotes would become public',
  heading: 'The message of a merge names something that upstream does not have:',
  advice: [
    'It may be a branch, a remote, a folder or an address of yours. "git rebase" onto upstream’s branch drops merges,',
    'and -o squash makes one commit of all. Or change the message: "git commit --amend", "git rebase -i --rebase-merges".',
  ],
};

export const CREDENTIALS: Leak = {
  reason: 'a credential would become public',
  heading: 'A credential would become public:',
  advice: [
    'Whoever issued it knows whose it is, and hosts tell the issuer of what they find. Remove it and push again: "git commit --amend"',
    'changes the last commit, "git rebase -i" earlier ones. If it was ever pushed elsewhere, revoke it.',
  ],
};

/** @param leaks at least one, the worst first. @param lines where they are, and what was searched. */
export function wouldBePublic(leaks: readonly Leak[], lines: readonly string[]): Refusal {
  return new Refusal('names', leaks[0]?.reason ?? '', [
    ...lines,
    ...new Set(leaks.flatMap(({ advice }) => advice)),
    'To publish it anyway, add: -o publish-names',
  ]);
}
