/**
 * Prevents people from publishing their names by mistake. It takes the names and addresses in the headers of pushed
 * commits and tags, which the rewrite removes, and searches for them in everything else that becomes public; in files
 * also for the original ids of the commits, and in texts for Change-Ids, from which a name can be guessed.
 */
import { utf8 } from '../../../git/bytes.ts';
import { kindOfFile } from '../../../files/file-kinds.ts';
import type { Memory } from '../../../git/memory.ts';
import type { NewCommit } from '../../../git/objects/new-commits.ts';
import { type Oid, OID_HEX_LENGTH, ZERO_OID } from '../../../git/objects/oid.ts';
import type { Plan } from '../../../git/objects/planned-commits.ts';
import { MAX_HEAD_BYTES } from '../../../git/search/pack-scan.ts';
import { searchPack, type SearchQuestions } from '../../../git/search/pack-search.ts';
import { type HeaderSource, SearchedNames } from '../../../git/search/searched-names.ts';
import type { UpstreamHistory } from '../../../upstream/upstream-history.ts';
import type { PushOptions } from '../../receive/push-options.ts';
import { type ReceivedPack, storedPack } from '../../receive/receive.ts';
import { Refusal } from '../../reply/refusal.ts';
import type { PushSettings } from '../../push-host.ts';
import type { Questions } from '../questions.ts';
import { haveOwnSignOff } from '../sign-off.ts';
import type { Work } from '../work.ts';
import { Findings, gapsOf, MAX_FINDINGS, nothingFound, searchedLine, wouldBePublic } from './findings.ts';
import { MergeSentences, type NamedCommits, namedCommits, type PublicNames } from './messages.ts';
import { remarksOn } from './remarks.ts';

/** From a spool that is not in memory, each costs a request. */
const MAX_READS = 32;

export interface NameSearch {
  readonly settings: Pick<PushSettings, 'identityCheck' | 'pushSecrets'>;
  readonly options: Pick<PushOptions, 'preview' | 'publishNames' | 'signOff' | 'title' | 'description'>;
  /** Names and addresses that are public anyway: the bot's. */
  readonly nobodys: readonly string[];
  readonly work: Work;
  readonly plan: Plan;
  /** Commits of this push that are public already: they name others than the one who pushes. */
  readonly published: ReadonlySet<Oid>;
  /** Ids of commits of this push that no new commit has. */
  readonly originalIds: Iterable<Oid>;
  readonly pack: ReceivedPack;
  readonly history: UpstreamHistory;
  readonly upstream: PublicNames;
  readonly memory: Memory;
  /** Asked only if a name may be there. */
  readonly questions: SearchQuestions & Pick<Questions, 'advertised'>;
}

export interface NamesSearched {
  /** For the person who goes on. */
  readonly warnings: readonly string[];
  /** For a preview: what was searched for, and what was found, or that nothing was. */
  readonly report: readonly string[];
  /** For a preview: why the push would be refused; null: not for this. */
  readonly refusal: string | null;
  /** Whether a folder of the push holds a submodule, or a new workflow, that the pack shows; it does not show every one. */
  readonly hasGitlinks: boolean;
  readonly hasWorkflows: boolean;
}

const NOT_SENT = 'Nothing of this push was sent.';
const WAS_READ = `${NOT_SENT} To search, the service has read upstream’s versions of the changed files at the code host.`;
const SIGN_OFF_INSTEAD =
  'To sign off as the bot instead, which replaces your own sign-offs, add: -o sign-off';

const OFF: NamesSearched = {
  warnings: [],
  report: ['This service does not search for the names of the commits’ authors.'],
  refusal: null,
  hasGitlinks: false,
  hasWorkflows: false,
};

/** @throws Refusal if the author would be named, and this is not allowed. */
export async function searchNames(search: NameSearch): Promise<NamesSearched> {
  if (search.settings.identityCheck === 'off') return OFF;
  const share = search.memory.share();
  try {
    const names = new SearchedNames({ ...search, headers: headersOf(search) });
    await share.set(names.search.mostBytes + MAX_HEAD_BYTES);
    return await searchFor(names, search);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new Refusal('names', 'the authors’ names cannot be searched for', [
      'They are too long, or made of unusual characters. Change them ("git config user.name", "git rebase"), and push again.',
    ]);
  } finally {
    share.setNow(0);
  }
}

async function searchFor(names: SearchedNames, search: NameSearch): Promise<NamesSearched> {
  const { settings, options, work, plan, pack, memory, questions } = search;
  const findings = new Findings(names, settings.pushSecrets === 'refuse');
  const texts = textsOf(search);
  for (const [where, text] of texts) findings.addText(() => where, text);
  findings.addMessages(plan.messages(), new MergeSentences(search.upstream));
  const named = await namedCommits(bytesIn(texts, plan), (oid) => oid === ZERO_OID, search.history);
  if (named.areStrange) {
    const isPublic = await inPullRequests(named, questions);
    findings.addStrangers(
      named.oids.filter((oid) => !isPublic(oid)),
      named.likely.filter((id) => !isPublic(id)),
    );
  }
  let hasAsked = false;
  const noted: SearchQuestions = {
    readBases: (...asked) => ((hasAsked = true), questions.readBases(...asked)),
    readUpstream: (...asked) => ((hasAsked = true), questions.readUpstream(...asked)),
  };
  const stored = storedPack(pack.spool, MAX_READS);
  const found = await searchPack(stored, names, noted, kindOfFile, memory, MAX_FINDINGS);
  findings.addHits(found.hits);
  findings.addWords(found.words, found.files ?? []);
  const { leaks, lines, words } = findings;
  const gaps = gapsOf(names, findings, named, found);
  const remarks = [...words, ...remarksOn(wordsIn(texts, plan), found)];
  const searched = searchedLine(names.identities);
  const hasWorkflows = found.files?.some((path) => /(?:^|\/)workflows\//.test(path)) === true;
  const shown = { hasGitlinks: found.hasGitlinks, hasWorkflows };
  const [worst] = leaks;
  if (worst === undefined) {
    const isIdle = !names.hasNames && names.identities.skipped.size > 0;
    const warnings = [...gaps, ...(isIdle ? [searched] : []), ...remarks];
    const nothing = words.length === 0 ? nothingFound(names, gaps) : [];
    return { warnings, report: [...nothing, searched, ...gaps, ...remarks], refusal: null, ...shown };
  }
  const wouldRefuse = settings.identityCheck === 'refuse' && !options.publishNames;
  const canSignOff = wouldRefuse && !options.signOff && haveOwnSignOff(pack.kept, work.commits);
  const wayOut = canSignOff ? [SIGN_OFF_INSTEAD] : [];
  const warnings = [worst.heading, ...lines, ...wayOut, ...gaps, searched, ...remarks];
  if (wouldRefuse && !options.preview)
    throw wouldBePublic(leaks, [...warnings, hasAsked ? WAS_READ : NOT_SENT]);
  return { warnings, report: warnings, refusal: wouldRefuse ? worst.reason : null, ...shown };
}

/** The last commit first: if there are too many people, it is more likely the one who pushes. */
function* headersOf({ work, pack, published }: NameSearch): Generator<HeaderSource> {
  for (let back = 1; back <= work.commits.length; back++) {
    const { oid, commit } = work.commits.at(-back) as NewCommit;
    if (published.has(oid)) continue;
    const content = pack.kept.withOid(oid)?.content;
    if (content !== undefined) yield { content, encoding: commit.encoding };
  }
  for (const { type, content } of pack.kept.objects()) if (type === 'tag') yield { content, encoding: null };
}

/** What becomes public besides files and messages, by what it is called. Ids of this push stand there as zeros. */
function textsOf({ plan, options: { title, description } }: NameSearch): Map<string, Uint8Array> {
  const texts = Object.entries({ title, description });
  return new Map(texts.map(([where, text]) => [where, plan.planText(utf8(text ?? '')).bytes]));
}

function* bytesIn(texts: ReadonlyMap<string, Uint8Array>, plan: Plan): Generator<Uint8Array> {
  yield* plan.messages();
  yield* texts.values();
}

function* wordsIn(texts: ReadonlyMap<string, Uint8Array>, plan: Plan): Generator<readonly [string, string]> {
  for (const [where, text] of texts) yield [where, Buffer.from(text).toString()];
  for (const message of plan.messages()) yield ['a message', Buffer.from(message).toString()];
}

/** Whether an id is that of a pull request at the host, and so public. */
async function inPullRequests(
  { oids, likely }: NamedCommits,
  { advertised }: NameSearch['questions'],
): Promise<(id: string) => boolean> {
  const whole = [...oids, ...likely.filter((id) => id.length === OID_HEX_LENGTH)];
  const found = whole.length === 0 ? null : await advertised(new Set(whole));
  return (id) => found?.has(id) === true;
}
