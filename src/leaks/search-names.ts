/**
 * Prevents people from publishing their names by mistake: searches for the names and addresses in
 * the headers of commits and tags, which the rewrite removes, in everything else that becomes
 * public. It also searches for credentials, in files for original ids of the commits, and in texts
 * for Change-Ids, from which a name can be guessed. Only the person sees what was found.
 */
import { kindOfFile } from './file-kinds.ts';
import type { Memory } from '../git/memory.ts';
import type { NewCommits } from '../git/objects/found-commits.ts';
import { type Oid, OID_HEX_LENGTH } from '../git/objects/oid.ts';
import type { Plan } from '../git/objects/planned-commits.ts';
import type { PlannedText } from '../git/objects/stored-commit.ts';
import type { StoredPack } from '../git/pack/entry-walker.ts';
import type { KeptObjects } from '../git/pack/kept-objects.ts';
import { MAX_HEAD_BYTES } from '../git/search/pack-scan.ts';
import { type PackFindings, searchPack, type SearchQuestions } from '../git/search/pack-search.ts';
import { type HeaderSource, type Named, SearchedNames } from '../git/search/searched-names.ts';
import { textsWith } from '../git/search/small-texts.ts';
import type { UpstreamHistory } from '../upstream/upstream-history.ts';
import { type Finding, say, warn } from '../words/finding.ts';
import { adviceOf, FoundLeaks, isOfSecret, MAX_FINDINGS, searchedLine } from './findings.ts';
import { unsearchedLines } from './lines.ts';
import { privateMerges, type PublicNames } from './merge-sentences.ts';
import { type NamedCommits, namedCommits, SAID_BY_PROGRAMS } from './messages.ts';
import { remarksOn } from './remarks.ts';

export interface NameSearch extends Pick<Named, 'originalIds' | 'nobodys'> {
  readonly settings: {
    readonly identityCheck: 'refuse' | 'warn' | 'off';
    readonly pushSecrets: 'proven' | 'refuse' | 'off';
  };
  readonly options: { readonly preview: boolean; readonly publishNames: boolean };
  readonly commits: NewCommits;
  readonly plan: Plan;
  /** The texts that become public besides files and messages, by their names. */
  readonly texts: Readonly<Record<string, PlannedText | null>>;
  /** Commits of this push that are public already. They name others than the person who pushes. */
  readonly published: ReadonlySet<Oid>;
  /** The commits and tags of its pack. */
  readonly kept: KeptObjects;
  /** The other entries of its pack. */
  readonly pack: StoredPack;
  readonly history: Pick<UpstreamHistory, 'since' | 'isKnown' | 'unknownOf' | 'reachBack'>;
  readonly upstream: PublicNames;
  readonly memory: Memory;
  readonly judgeFolders: NonNullable<SearchQuestions['judgeFolders']>;
  /**
   * Questions to the host, asked only if a name, a credential or an id may be there. They are null
   * while the host must not learn of the push.
   */
  readonly questions: {
    /**
     * Finds which of these ids a ref of upstream's has, by its name. It returns null if that is not
     * known.
     */
    readonly advertised: (oids: ReadonlySet<Oid>) => Promise<ReadonlyMap<Oid, string> | null>;
    readonly readBases: SearchQuestions['readBases'];
    /** Files and folders of one commit. */
    readonly readFiles: (
      commit: Oid,
      ...asked: Parameters<SearchQuestions['readUpstream']>
    ) => ReturnType<SearchQuestions['readUpstream']>;
  } | null;
  /**
   * Tells if the commits have sign-offs of their own authors or committers, which the service could
   * replace. It is false with `-o sign-off`, and asked only if a leak refuses the push.
   */
  readonly canSignOff: () => boolean;
  /** The command that rebases onto the base, which ends merges. */
  readonly rebase: string;
  /** The upstream commit with which files are compared. */
  readonly boundary: Oid;
}

export interface NamesSearched extends Pick<PackFindings, 'hasGitlinks'> {
  /**
   * The reason why the push must not be published, with lines for the person. It is null if
   * nothing here refuses the push.
   */
  readonly refusal: { readonly reason: string; readonly lines: readonly string[] } | null;
  /**
   * The other findings. Without a refusal, they also tell what was not searched, and may tell what
   * was searched for.
   */
  readonly findings: readonly Finding[];
  /** True if the pack shows a new file in a folder `workflows`. It does not show all of them. */
  readonly hasWorkflows: boolean;
}

/** The search of a service that does not look for names. */
const NOBODY: Named = { headers: [], originalIds: [], nobodys: [] };
const NOT_LOOKED = 'This service does not search for the names of the commits’ authors.';
const NOT_SENT = 'Nothing of this push was sent.';
const WAS_READ = `${NOT_SENT} To search, the service has read upstream’s versions of the changed files at the code host.`;
const NOT_COMPARED =
  'A delayed push is not compared with upstream’s files, which may have these lines already.';

/**
 * Searches a push for what names its author.
 * @throws RangeError if the texts to search for match in too many ways.
 * @throws what `searchPack` throws.
 */
export async function searchNames(search: NameSearch): Promise<NamesSearched> {
  const { settings, memory } = search;
  const claim = memory.claim();
  try {
    const named = settings.identityCheck === 'off' ? NOBODY : { ...search, headers: headersOf(search) };
    const names = new SearchedNames(named);
    await claim.set(names.search.mostBytes + MAX_HEAD_BYTES);
    return await searchFor(names, search);
  } finally {
    claim.setNow(0);
  }
}

async function searchFor(names: SearchedNames, search: NameSearch): Promise<NamesSearched> {
  const { settings, plan, memory, questions, boundary } = search;
  const looksFor = { names: settings.identityCheck !== 'off', secrets: settings.pushSecrets !== 'off' };
  const findings = new FoundLeaks(names, settings.pushSecrets === 'refuse', looksFor);
  const texts: Texts = Object.entries(search.texts).flatMap(([where, text]) =>
    text === null ? [] : [[where, text.bytes] as const],
  );
  for (const [where, text] of texts) findings.addText(() => where, text);
  const privateIn = privateMerges(search.upstream);
  for (const message of plan.messages) {
    findings.addMessage(message);
    await memory.worked(message.byteLength);
  }
  for await (const message of textsWith(plan.messages, SAID_BY_PROGRAMS, memory))
    findings.addSaidByPrograms(message, privateIn);
  const named = await namedCommits(
    looksFor.names ? allTexts(plan, texts) : [],
    search.history,
    names.looks,
    memory,
  );
  if (named.areStrange) findings.addStrangers(named, await publicIdsOf(named, questions), plan.messages);
  let hasAsked = false;
  const noted: SearchQuestions = {
    readBases: async (...asked) => {
      hasAsked = true;
      return (await questions?.readBases(...asked)) ?? [];
    },
    readUpstream: async (...asked) => {
      hasAsked = true;
      return (await questions?.readFiles(boundary, ...asked)) ?? new Map();
    },
    judgeFolders: search.judgeFolders,
  };
  const found = await searchPack(search.pack, names, noted, kindOfFile, memory, MAX_FINDINGS);
  findings.addHits(found.hits);
  findings.addWords(found.words, found.paths);
  const gaps = looksFor.names ? gapsOf(names, findings, named, found) : unsearchedLines(names.looks.ended);
  const notSent = questions === null ? [NOT_COMPARED, NOT_SENT] : [hasAsked ? WAS_READ : NOT_SENT];
  return {
    ...reviewed(search, names, findings, found, { gaps, notSent }),
    hasGitlinks: found.hasGitlinks,
    hasWorkflows: found.files?.some((path) => /(?:^|\/)workflows\//.test(path)) === true,
  };
}

/**
 * Sorts what was found: leaks refuse the push, or warn; what is likely only warns; gaps are said.
 * @param notSent whether anything was read for the search, as a refusal says it.
 */
function reviewed(
  { settings, options, canSignOff, rebase }: NameSearch,
  names: SearchedNames,
  { leaks, lines, likely, homes }: FoundLeaks,
  found: PackFindings,
  { gaps, notSent }: Readonly<Record<'gaps' | 'notSent', readonly string[]>>,
): Pick<NamesSearched, 'refusal' | 'findings'> {
  const looksForNames = settings.identityCheck !== 'off';
  const searched = looksForNames ? searchedLine(names.identities) : NOT_LOOKED;
  const warnings = [...likely, ...(looksForNames ? remarksOn(homes, found) : [])];
  const [worst] = leaks;
  if (worst === undefined) {
    const isIdle = !names.hasNames && names.identities.skipped.size > 0;
    const nothing = likely.length === 0 ? nothingFound(names, gaps) : [];
    const said = options.preview ? [...nothing, searched, ...gaps] : [...gaps, ...(isIdle ? [searched] : [])];
    return { refusal: null, findings: [...say('searched', ...said), ...warnings] };
  }
  const refused = options.publishNames
    ? []
    : leaks.filter((leak) => isOfSecret(leak) || settings.identityCheck === 'refuse');
  const [first] = refused;
  const where = [worst.heading, ...lines];
  if (first === undefined)
    return {
      refusal: null,
      findings: [...warn('names', ...where), ...say('searched', ...gaps, searched), ...warnings],
    };
  const wayOut = canSignOff()
    ? ['To sign off as the bot instead, which replaces your own sign-offs, add: -o sign-off']
    : [];
  const advice = options.preview ? [] : [...notSent, ...adviceOf(refused, rebase)];
  const all = [...where, ...wayOut, ...gaps, ...advice, searched];
  return { refusal: { reason: first.reason, lines: all }, findings: warnings };
}

/**
 * Yields the headers of the newest commit first. If there are too many people, it is more likely of
 * the person who pushes.
 */
function* headersOf({ commits, kept, published }: NameSearch): Generator<HeaderSource> {
  for (let back = 1; back <= commits.length; back++) {
    const found = commits.at(-back)!;
    if (published.size > 0 && published.has(found.oid)) continue;
    yield { content: found.content, encoding: found.commit.encoding };
  }
  for (const content of kept.tags()) yield { content, encoding: null };
}

function* allTexts({ messages }: Plan, texts: Texts): Generator<Uint8Array> {
  yield* messages;
  for (const [, text] of texts) yield text;
}

/** The texts that become public, with zeros for ids of this push. */
type Texts = readonly (readonly [where: string, text: Uint8Array])[];

/** Returns the ids that refs of upstream have, such as those of pull requests. */
async function publicIdsOf(
  { oids, likely }: NamedCommits,
  questions: NameSearch['questions'],
): Promise<ReadonlyMap<string, unknown>> {
  const whole = [...oids, ...likely.filter((id) => id.length === OID_HEX_LENGTH)];
  if (whole.length === 0) return new Map();
  return (await questions?.advertised(new Set(whole))) ?? new Map();
}

/** Said if everything was searched, and nothing found. */
export const NO_NAME_FOUND =
  'The service found no name or address of the commits’ authors in what would become public.';

function nothingFound({ hasNames, identities }: SearchedNames, gaps: readonly string[]): string[] {
  if (!hasNames) return [];
  if (identities.skipped.size > 0 || gaps.length > 0)
    return ['The service found none of the words that it searched for.'];
  return [NO_NAME_FOUND];
}

/** Says what was not searched, or cannot be told. */
function gapsOf(
  { isComplete, hasAllIds, looks }: SearchedNames,
  { lines }: FoundLeaks,
  strangers: NamedCommits,
  found: PackFindings,
): string[] {
  const mentioned = strangers.areStrange ? [] : strangers.oids;
  const gaps: readonly (readonly [isGap: boolean, gap: string])[] = [
    [lines.length >= MAX_FINDINGS, 'The search ended here: there may be more.'],
    [
      !isComplete,
      'The commits name more people than the service can search for. It did not search for all of them in every form.',
    ],
    [
      !found.isComplete,
      'The service could not search all of the changed files for names. Check them for yours.',
    ],
    [!hasAllIds, 'There are too many commits to search the files for the original ids of all of them.'],
  ];
  return [
    ...gaps.flatMap(([isGap, gap]) => (isGap ? [gap] : [])),
    ...unsearchedLines(looks.ended),
    ...mentioned.map((oid) => `A message names the commit ${oid}. Make sure that it is not one of yours.`),
  ];
}
