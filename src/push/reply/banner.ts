/**
 * The last lines of a successful push: everything that the person needs later, because the service keeps nothing else
 * for them.
 */
export interface BannerFacts {
  readonly updated: boolean;
  readonly prUrl: string;
  readonly author: string;
  readonly branch: string;
  readonly prHash: string;
  /** Null if updates need no key. */
  readonly prKey: string | null;
  /** Whether the commits are signed off. */
  readonly isSignedOff: boolean;
  /** The branch that the option `base` named; null if it was not given. */
  readonly base: string | null;
  /** The service's own page of the pull request. */
  readonly pageUrl: string;
  /** Comments and reviews since the last push of the pull request. */
  readonly newRemarks: number;
  readonly subscribeUrl: string;
  /** The address that was pushed to. */
  readonly remoteUrl: string;
  readonly refName: string;
}

/** Quotes a word for a shell, because ref names may contain characters that are special there. */
export function shellWord(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

export function bannerLines(facts: BannerFacts): string[] {
  const { prHash, prKey, isSignedOff, base } = facts;
  const options = [
    `-o pr-hash=${prHash}`,
    ...(prKey === null ? [] : [`-o pr-key=${prKey}`]),
    ...(isSignedOff ? ['-o sign-off'] : []),
    ...(base === null ? [] : [`-o ${shellWord(`base=${base}`)}`]),
  ].join(' ');
  return [
    '',
    facts.updated ? 'Your pull request has been updated.' : 'Your pull request is open.',
    ...newsLines(facts),
    `  PR URL:   ${facts.prUrl}`,
    `  Author:   ${facts.author}`,
    `  Branch:   ${facts.branch}`,
    `  PR hash:  ${prHash}`,
    ...(prKey === null ? [] : [`  PR key:   ${prKey}`]),
    `  Page:     ${facts.pageUrl}`,
    `  Topic:    ${facts.subscribeUrl}`,
    prKey === null ? 'Update it later:' : 'Update it later (nobody can recover the key):',
    `  git push ${options} ${facts.remoteUrl} ${shellWord(`HEAD:${facts.refName}`)}`,
  ];
}

function newsLines({ newRemarks, pageUrl }: BannerFacts): string[] {
  if (newRemarks === 0) return [];
  return [`${newRemarks} new ${newRemarks === 1 ? 'comment' : 'comments'} since your last push: ${pageUrl}`];
}
