/**
 * Prevents people from publishing their names by mistake. It takes the names and addresses in the headers of pushed
 * commits and tags, which the rewrite removes, and searches for them in everything else that becomes public; in files
 * also for the original ids of the commits, and in texts for Change-Ids, from which a name can be guessed.
 */
import type { Memory } from '../../../git/memory.ts';
import type { NewCommit } from '../../../git/objects/new-commits.ts';
import { type Oid, ZERO_OID } from '../../../git/objects/oid.ts';
import type { Plan } from '../../../git/objects/planned-commits.ts';
import { type PackFindings, searchPack, type SearchQuestions } from '../../../git/search/pack-search.ts';
import { type HeaderSource, SearchedNames } from '../../../git/search/searched-names.ts';
import type { UpstreamHistory } from '../../../upstream/upstream-history.ts';
import type { PushOptions } from '../../receive/push-options.ts';
import type { ReceivedPack } from '../../receive/receive.ts';
import { Refusal } from '../../reply/refusal.ts';
import type { PushSettings } from '../../push-host.ts';
import { haveOwnSignOff } from '../sign-off.ts';
import type { Work } from '../work.ts';
import { Findings, MAX_FINDINGS } from './findings.ts';
import { wouldBePublic } from './leaks.ts';
import { MergeSentences, type PublicNames } from './merge-sentences.ts';
import { type NamedCommits, namedCommits } from './named-commits.ts';
import { remarksOn } from './remarks.ts';
import { shown } from './shown.ts';

/** From a spool that is not in memory, each costs a request. */
const MAX_READS = 32;
/** Names and addresses that are listed; more are counted. */
const MAX_LISTED = 10;

export interface NameSearch {
  readonly settings: Pick<PushSettings, 'identityCheck'>;
  readonly options: Pick<PushOptions, 'preview' | 'publishNames' | 'signOff' | 'title' | 'description'>;
  /** Names and addresses that are public anyway: the bot's. */
  readonly nobodys: readonly string[];
  readonly work: Work;
  readonly plan: Plan;
  /** Ids of commits of this push that no new commit has. */
  readonly originalIds: Iterable<Oid>;
  readonly pack: ReceivedPack;
  readonly history: UpstreamHistory;
  readonly upstream: PublicNames;
  readonly memory: Memory;
  /** Asked only if a name may be there. */
  readonly questions: SearchQuestions;
}

export interface NamesSearched {
  /** For the person who goes on. */
  readonly warnings: readonly string[];
  /** For a preview: what was searched for, and what was found, or that nothing was. */
  readonly report: readonly string[];
  /** For a preview: why the push would be refused; null: not for this. */
  readonly refusal: string | null;
  /** Whether a folder of the push holds a submodule that the pack shows; it does not show every one. */
  readonly hasGitlinks: boolean;
}

const SIGN_OFF_INSTEAD =
  'To sign off as the bot instead, which replaces your own sign-offs, add: -o sign-off';

const OFF: NamesSearched = {
  warnings: [],
  report: ['This service does not search for the names of the commits’ authors.'],
  refusal: null,
  hasGitlinks: false,
};

/** @throws Refusal if the author would be named, and this is not allowed. */
export async function searchNames(search: NameSearch): Promise<NamesSearched> {
  const { settings, options, plan, pack, memory, questions } = search;
  if (settings.identityCheck === 'off') return OFF;
  try {
    const names = new SearchedNames({ ...search, headers: headersOf(search) });
    const share = memory.share();
    await share.set(names.search.mostBytes);
    const findings = new Findings(names);
    const { title, description } = options;
    if (title !== null) findings.addOption('title', title);
    if (description !== null) findings.addOption('description', description);
    findings.addMessages(plan.messages(), new MergeSentences(search.upstream));
    const strangers = await namedByMessages(search);
    if (strangers.areStrange) findings.addStrangers(strangers.oids);
    const searched = {
      read: (start: number) => pack.spool.read(start),
      byteLength: pack.spool.byteLength,
      maxReads: pack.spool.isInMemory ? Infinity : MAX_READS,
    };
    let hasAsked = false;
    const counted: SearchQuestions = {
      readBases: (...asked) => ((hasAsked = true), questions.readBases(...asked)),
      readUpstream: (...asked) => ((hasAsked = true), questions.readUpstream(...asked)),
    };
    const found = await searchPack(searched, names, counted, memory, MAX_FINDINGS);
    findings.addHits(found.hits);
    share.setNow(0);
    const gaps = gapsOf(names, findings, strangers, found);
    const remarks = remarksOn(textsOf(search), found);
    const conduct = { gaps, remarks, hasAsked, hasGitlinks: found.hasGitlinks };
    return conclude(search, names, findings, conduct);
  } catch (error) {
    if (error instanceof RangeError) throw notSearchable();
    throw error;
  }
}

interface Conduct {
  readonly gaps: readonly string[];
  /** What refuses nothing. */
  readonly remarks: readonly string[];
  /** Whether the host was asked for something. */
  readonly hasAsked: boolean;
  readonly hasGitlinks: boolean;
}

function conclude(
  search: NameSearch,
  names: SearchedNames,
  { leaks, lines }: Findings,
  { gaps, remarks, hasAsked, hasGitlinks }: Conduct,
): NamesSearched {
  const { settings, options } = search;
  const searched = searchedLine(names.identities);
  const [worst] = leaks;
  if (worst === undefined) {
    const isIdle = !names.hasNames && names.identities.skipped.length > 0;
    const warnings = [...gaps, ...(isIdle ? [searched] : []), ...remarks];
    const report = [...nothingFound(names, gaps), searched, ...gaps, ...remarks];
    return { warnings, report, refusal: null, hasGitlinks };
  }
  const wouldRefuse = settings.identityCheck === 'refuse' && !options.publishNames;
  const wayOut = wouldRefuse ? adviceToSignOff(search) : [];
  const warnings = [worst.heading, ...lines, ...wayOut, ...gaps, searched, ...remarks];
  if (wouldRefuse && !options.preview) throw wouldBePublic(leaks, [...warnings, whatWasSent(hasAsked)]);
  return { warnings, report: warnings, refusal: wouldRefuse ? worst.reason : null, hasGitlinks };
}

function adviceToSignOff({ options, work, pack }: NameSearch): string[] {
  return !options.signOff && haveOwnSignOff(pack.kept, work.commits) ? [SIGN_OFF_INSTEAD] : [];
}

function nothingFound({ hasNames, identities }: SearchedNames, gaps: readonly string[]): string[] {
  if (!hasNames) return [];
  const hasAll = identities.skipped.length === 0 && gaps.length === 0;
  return hasAll
    ? ['The service found no name or address of the commits’ authors in what would become public.']
    : ['The service found nothing of what it searched for.'];
}

/** `The service searched for ada@example.org and Ada Lovelace; not for Max (one short word).` */
function searchedLine({ terms, skipped }: SearchedNames['identities']): string {
  const others = skipped.map(({ term, reason }) => `${shown(term)} (${reason})`);
  const not = others.length === 0 ? '' : `; not for ${listed(others)}`;
  return terms.size > 0
    ? `The service searched for ${listed([...terms].map(shown))}${not}.`
    : `The commits name nobody for whom the service could search${not}. Look for your name yourself.`;
}

function listed(words: readonly string[]): string {
  const few = words.slice(0, MAX_LISTED);
  if (words.length > few.length) few.push(`${words.length - few.length} more`);
  return few.length === 1 ? few.join() : `${few.slice(0, -1).join(', ')} and ${few.at(-1)}`;
}

function whatWasSent(hasAsked: boolean): string {
  return hasAsked
    ? 'Nothing of this push was sent. To search, the service has read upstream’s versions of the changed files at the code host.'
    : 'Nothing of this push was sent.';
}

/** The last commit first: if there are too many people, it is more likely the one who pushes. */
function* headersOf({ work, pack }: NameSearch): Generator<HeaderSource> {
  for (let back = 1; back <= work.commits.length; back++) {
    const { oid, commit } = work.commits.at(-back) as NewCommit;
    const content = pack.kept.withOid(oid)?.content;
    if (content !== undefined) yield { content, encoding: commit.encoding };
  }
  for (const { type, content } of pack.kept.objects()) if (type === 'tag') yield { content, encoding: null };
}

function* textsOf({ options, plan }: NameSearch): Generator<readonly [string, string]> {
  yield ['title', options.title ?? ''];
  yield ['description', options.description ?? ''];
  for (const message of plan.messages()) yield ['a message', Buffer.from(message).toString()];
}

/** Commits that messages name. Those of this push stand there as zeros. */
function namedByMessages({ plan, history }: NameSearch): Promise<NamedCommits> {
  return namedCommits(
    plan.messages(),
    (oid) => oid === ZERO_OID,
    history,
    () => history.reachBack(),
  );
}

/** What was not searched, or cannot be told. */
function gapsOf(
  names: SearchedNames,
  { lines }: Findings,
  strangers: NamedCommits,
  { isComplete }: PackFindings,
): string[] {
  const unsure = strangers.areStrange ? [] : strangers.oids;
  return [
    ...(lines.length < MAX_FINDINGS ? [] : ['The search ended here: there may be more.']),
    ...(names.isComplete
      ? []
      : ['The commits name more people than the service can search for. It did not search for all of them.']),
    ...(isComplete
      ? []
      : ['The service could not search all of the changed files for names. Look for yours in them.']),
    ...unsure.map((oid) => `A message names the commit ${oid}. Make sure that it is not one of yours.`),
    ...(names.hasAllIds
      ? []
      : ['There are too many commits to search the files for the original ids of all of them.']),
  ];
}

function notSearchable(): Refusal {
  return new Refusal('names', 'the authors’ names cannot be searched for', [
    'They are too long, or made of unusual characters. Change them ("git config user.name", "git rebase"), and push again.',
  ]);
}
