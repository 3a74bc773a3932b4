/**
 * Commits of other people's pull requests that a push contains, because somebody worked on top of them: they would go
 * out once more, under the bot's name.
 */
import { latin1 } from '../../git/bytes.ts';
import type { Oid } from '../../git/objects/oid.ts';
import { fullName, type RepositoryName } from '../../repository-name.ts';
import type { ReceivedPack } from '../receive/receive.ts';
import type { Questions } from './questions.ts';
import { commitsFrom, type Work } from './work.ts';

/** Of GitHub, Gitea and Forgejo. */
const PULL_REF = /^refs\/pull\/(\d{1,10})\/head$/;
const MOST_NAMED = 3;
/** The author's line stands behind the parents'. */
const MAX_HEAD_BYTES = 4_096;

/**
 * Lines for the person; none for the work of one author, for which nobody is asked.
 * @param own the number of the pull request that is updated; null: none.
 */
export async function borrowedLines(
  questions: Pick<Questions, 'advertised'>,
  { commits }: Work,
  kept: ReceivedPack['kept'],
  repository: RepositoryName,
  own: number | null,
): Promise<string[]> {
  const authors = new Set<string>();
  const oids = new Set<Oid>();
  for (const { oid } of commits) {
    authors.add(authorOf(kept.withOid(oid)?.content ?? new Uint8Array()));
    oids.add(oid);
  }
  if (authors.size < 2) return [];
  const advertised = await questions.advertised(oids);
  if (advertised === null)
    return ['The service could not check whether commits of other pull requests are among yours.'];
  const numbers = [...advertised].flatMap(([oid, name]) => {
    const [, number] = PULL_REF.exec(name) ?? [];
    return number === undefined || Number(number) === own ? [] : [{ oid, number }];
  });
  return numbers.slice(0, MOST_NAMED).map(({ oid, number }) => {
    // A client may send commits that upstream has, too.
    const theirs = [...commitsFrom(kept, oid)].filter((each) => oids.has(each)).length;
    const of = `${theirs} of the ${oids.size} commits ${theirs === 1 ? 'is' : 'are'} of ${fullName(repository)}#${number}`;
    return `${of}, and would be published again in the name of the bot.`;
  });
}

/** Name and address in the commit's own bytes; '' if it names none. */
function authorOf(content: Uint8Array): string {
  const head = latin1(content, 0, Math.min(content.byteLength, MAX_HEAD_BYTES));
  return /^author [^\n>]*/m.exec(head)?.[0] ?? '';
}
