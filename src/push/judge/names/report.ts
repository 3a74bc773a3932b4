/** What the person is told of a search besides what was found: for whom it was, and what it could not do. */
import type { PackFindings } from '../../../git/search/pack-search.ts';
import type { SearchedNames } from '../../../git/search/searched-names.ts';
import { type Findings, MAX_FINDINGS } from './findings.ts';
import type { NamedCommits } from './named-commits.ts';
import { shown } from './shown.ts';

/** Names and addresses that are listed; more are counted. */
const MAX_LISTED = 10;

export function nothingFound({ hasNames, identities }: SearchedNames, gaps: readonly string[]): string[] {
  if (!hasNames) return [];
  const hasAll = identities.skipped.size === 0 && gaps.length === 0;
  return hasAll
    ? ['The service found no name or address of the commits’ authors in what would become public.']
    : ['The service found none of the words that it searched for.'];
}

/** If the headers have no name or address but those of nobody. */
export const NOBODY_SEARCHED =
  'The commits name nobody, so the service searched for no name. Check them yourself.';

/** `The service searched for ada@example.org and Ada Lovelace. It did not search for Max (one short word).` */
export function searchedLine({ terms, skipped }: SearchedNames['identities']): string {
  const others = Array.from(skipped, ([term, reason]) => `${shown(term)} (${reason})`);
  if (terms.size === 0) {
    if (others.length === 0) return NOBODY_SEARCHED;
    return `The commits name only ${listed(others)}, so the service searched for no name. Check them yourself.`;
  }
  const not = others.length === 0 ? '' : ` It did not search for ${listed(others)}.`;
  return `The service searched for ${listed([...terms].map(shown))}.${not}`;
}

function listed(words: readonly string[]): string {
  const few = words.slice(0, MAX_LISTED);
  if (words.length > few.length) few.push(`${words.length - few.length} more`);
  return few.length === 1 ? few.join() : `${few.slice(0, -1).join(', ')} and ${few.at(-1)}`;
}

export function whatWasSent(hasAsked: boolean): string {
  return hasAsked
    ? 'Nothing of this push was sent. To search, the service has read upstream’s versions of the changed files at the code host.'
    : 'Nothing of this push was sent.';
}

/** What was not searched, or cannot be told. */
export function gapsOf(
  names: SearchedNames,
  findings: Findings,
  strangers: NamedCommits,
  found: PackFindings,
): string[] {
  const unsure = strangers.areStrange ? [] : strangers.oids;
  return [
    ...(findings.lines.length < MAX_FINDINGS ? [] : ['The search ended here: there may be more.']),
    ...(names.isComplete
      ? []
      : [
          'The commits name more people than the service can search for. It did not search for all of them in every form.',
        ]),
    ...(found.isComplete
      ? []
      : ['The service could not search all of the changed files for names. Check them for yours.']),
    ...unsure.map((oid) => `A message names the commit ${oid}. Make sure that it is not one of yours.`),
    ...(names.hasAllIds
      ? []
      : ['There are too many commits to search the files for the original ids of all of them.']),
  ];
}
