/**
 * The last lines of a successful push: everything that the person needs later, because the service keeps nothing else
 * for them.
 */
export interface BannerFacts extends Repeated {
  readonly updated: boolean;
  readonly prUrl: string;
  readonly author: string;
  readonly branch: string;
  /** A new pull request that is not ready to be merged yet. */
  readonly isDraft: boolean;
  /** The service's own page of the pull request. */
  readonly pageUrl: string;
  /** Comments and reviews since the last push of the pull request. */
  readonly newRemarks: number;
  readonly subscribeUrl: string;
}

/** What a push must repeat to change the same pull request. */
export interface Repeated {
  readonly prHash: string;
  /** Null if updates need no key. */
  readonly prKey: string | null;
  /** Whether the commits are signed off. */
  readonly isSignedOff: boolean;
  readonly isSquashed: boolean;
  /** The branch that the option `base` named; null if it was not given. */
  readonly base: string | null;
  /** The address that was pushed to. */
  readonly remoteUrl: string;
  readonly refName: string;
}

/** Quotes a word for a shell, because ref names may contain characters that are special there. */
export function shellWord(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** @param more options besides those that every change needs. */
export function updateCommand(repeated: Repeated, more: readonly string[] = []): string {
  const { prHash, prKey, isSquashed, isSignedOff, base, remoteUrl, refName } = repeated;
  const options = [
    `pr-hash=${prHash}`,
    ...(prKey === null ? [] : [`pr-key=${prKey}`]),
    ...(isSquashed ? ['squash'] : []),
    ...(isSignedOff ? ['sign-off'] : []),
    ...(base === null ? [] : [`base=${base}`]),
    ...more,
  ];
  const words = options.map((option) => `-o ${shellWord(option)}`).join(' ');
  return `git push ${words} ${remoteUrl} ${shellWord(`HEAD:${refName}`)}`;
}

/** The key is shown once, in the command. */
export function bannerLines(facts: BannerFacts): string[] {
  const opened = facts.isDraft ? 'Your pull request is open as a draft.' : 'Your pull request is open.';
  return [
    '',
    facts.updated ? 'Your pull request has been updated.' : opened,
    ...newsLines(facts),
    `  PR URL:   ${facts.prUrl}`,
    `  Author:   ${facts.author}`,
    `  Branch:   ${facts.branch}`,
    `  PR hash:  ${facts.prHash}`,
    `  Page:     ${facts.pageUrl}`,
    `  Topic:    ${facts.subscribeUrl}`,
    facts.prKey === null
      ? 'Update it later:'
      : 'Update it later (nobody can recover the key in this command):',
    `  ${updateCommand(facts)}`,
  ];
}

function newsLines({ newRemarks }: BannerFacts): string[] {
  if (newRemarks === 0) return [];
  const comments = newRemarks === 1 ? '1 new comment' : `${newRemarks} new comments`;
  return [`${comments} since your last push: see its page.`];
}
