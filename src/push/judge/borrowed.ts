/**
 * Commits of other people's pull requests that a push contains, because somebody worked on top of them: they would go
 * out once more, under the bot's name.
 */
import { IdentityCollector } from '../../git/search/raw-identity.ts';
import { fullName, type RepositoryName } from '../../repository-name.ts';
import type { ReceivedPack } from '../receive/receive.ts';
import type { Questions } from './questions.ts';
import { commitsFrom, type Work } from './work.ts';

/** Of GitHub, Gitea and Forgejo. */
const PULL_REF = /^refs\/pull\/(\d{1,10})\/head$/;
const MOST_NAMED = 3;

/**
 * Lines for the person; none for the work of one person alone, for which nobody is asked.
 * @param own the number of the pull request that is updated; null: none.
 */
export async function borrowedLines(
  questions: Pick<Questions, 'advertised'>,
  { commits }: Work,
  kept: ReceivedPack['kept'],
  repository: RepositoryName,
  own: number | null,
): Promise<string[]> {
  const people = new IdentityCollector();
  const oids = new Set<string>();
  for (const { oid, commit } of commits) {
    people.add(kept.withOid(oid)?.content ?? new Uint8Array(), commit.encoding);
    oids.add(oid);
  }
  if (people.identities.length < 2) return [];
  const advertised = await questions.advertised(oids);
  if (advertised === null)
    return ['The service could not check whether commits of other pull requests are among yours.'];
  const numbers = [...advertised].flatMap(([oid, name]) => {
    const [, number] = PULL_REF.exec(name) ?? [];
    return number === undefined || Number(number) === own ? [] : [{ oid, number }];
  });
  return numbers.slice(0, MOST_NAMED).map(({ oid, number }) => {
    const theirs = commitsFrom(kept, oid).size;
    const of = `${theirs} of the ${oids.size} commits ${theirs === 1 ? 'is' : 'are'} of ${fullName(repository)}#${number}`;
    return `${of}, and would be published again in the name of the bot.`;
  });
}
