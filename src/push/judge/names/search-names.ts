/**
 * Prevents people from publishing their names by mistake: searches for the names and addresses in the headers of commits
 * and tags, which the rewrite removes, in everything else that becomes public. In files also for original ids of the
 * commits, and in texts for Change-Ids, from which a name can be guessed. Only the person is shown what was found.
 */
import { utf8 } from '../../../git/bytes.ts';
import { kindOfFile } from '../../../files/file-kinds.ts';
import type { Memory } from '../../../git/memory.ts';
import { type Oid, OID_HEX_LENGTH } from '../../../git/objects/oid.ts';
import type { Plan, PlannedText } from '../../../git/objects/planned-commits.ts';
import type { Credential } from '../../../git/search/credentials.ts';
import { MAX_HEAD_BYTES } from '../../../git/search/pack-scan.ts';
import {
  type ContentHit,
  type PackFindings,
  searchPack,
  type SearchQuestions,
} from '../../../git/search/pack-search.ts';
import { type HeaderSource, type Named, SearchedNames } from '../../../git/search/searched-names.ts';
import type { UpstreamHistory } from '../../../upstream/upstream-history.ts';
import type { PushSettings } from '../../push-host.ts';
import type { PushOptions } from '../../receive/push-options.ts';
import { type ReceivedPack, storedPack } from '../../receive/receive.ts';
import { Refusal } from '../../reply/refusal.ts';
import type { Questions } from '../questions.ts';
import { haveOwnSignOff, type Work } from '../work.ts';
import {
  changeIdsIn,
  listed,
  MAX_SHOWN_LENGTH,
  type NamedCommits,
  namedCommits,
  ownDaysIn,
  privateMerges,
  type PrivateIn,
  type PublicNames,
  remarksOn,
  shown,
} from './messages.ts';

/** From a spool that is not in memory, each costs a request. */
const MAX_READS = 32;

export interface NameSearch extends Pick<Named, 'originalIds' | 'nobodys'> {
  readonly settings: Pick<PushSettings, 'identityCheck' | 'pushSecrets'>;
  readonly options: Pick<PushOptions, 'preview' | 'publishNames' | 'signOff'>;
  readonly work: Work;
  readonly plan: Plan;
  /** What becomes public besides files and messages, by what it is called. */
  readonly texts: Readonly<Record<string, PlannedText | null>>;
  /** Commits of this push that are public already: they name others than the one who pushes. */
  readonly published: ReadonlySet<Oid>;
  readonly pack: ReceivedPack;
  readonly history: UpstreamHistory;
  readonly upstream: PublicNames;
  readonly memory: Memory;
  /** Asked only if a name may be there. */
  readonly questions: Pick<Questions, 'advertised' | 'readBases' | 'readFiles'>;
  /** Upstream's commit that files are compared with. */
  readonly boundary: Oid;
  /** The host is not asked about the push, so nothing is compared. */
  readonly isQuiet: boolean;
}

export interface NamesSearched extends Pick<PackFindings, 'hasGitlinks'> {
  /** What was found; in a preview also what was searched for, and that nothing was found. */
  readonly lines: readonly string[];
  /** For a preview: why the push would be refused; null: not for this. */
  readonly refusal: string | null;
  /** Whether the pack shows a new workflow; it does not show every one. */
  readonly hasWorkflows: boolean;
}

const NOT_SENT = 'Nothing of this push was sent.';
const WAS_READ = `${NOT_SENT} To search, the service has read upstream’s versions of the changed files at the code host.`;
const NOT_COMPARED =
  'A delayed push is not compared with upstream’s files, which may have these lines already.';

/** @throws Refusal if the author would be named, and this is not allowed. */
export async function searchNames(search: NameSearch): Promise<NamesSearched> {
  const { settings, options, memory } = search;
  if (settings.identityCheck === 'off') {
    const lines = options.preview
      ? ['This service does not search for the names of the commits’ authors.']
      : [];
    return { lines, refusal: null, hasGitlinks: false, hasWorkflows: false };
  }
  const claim = memory.claim();
  try {
    const names = new SearchedNames({ ...search, headers: headersOf(search) });
    await claim.set(names.search.mostBytes + MAX_HEAD_BYTES);
    return await searchFor(names, search);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new Refusal('names', 'the authors’ names cannot be searched for', [
      'They are too long, or made of unusual characters. Change them ("git config user.name", "git rebase"), and push again.',
    ]);
  } finally {
    claim.setNow(0);
  }
}

async function searchFor(names: SearchedNames, search: NameSearch): Promise<NamesSearched> {
  const { settings, options, work, plan, pack, memory, questions, boundary, isQuiet } = search;
  const findings = new Findings(names, settings.pushSecrets === 'refuse');
  const texts: Texts = Object.entries(search.texts).flatMap(([where, text]) =>
    text === null ? [] : [[where, text.bytes] as const],
  );
  for (const [where, text] of texts) findings.addText(() => where, text);
  findings.addMessages(plan.messages(), privateMerges(search.upstream));
  const named = await namedCommits(bytesIn(texts, plan), search.history);
  if (named.areStrange) findings.addStrangers(named, await publicIdsOf(named, questions));
  let hasAsked = false;
  const noted: SearchQuestions = {
    readBases: (...asked) => {
      hasAsked = !isQuiet;
      return questions.readBases(...asked);
    },
    readUpstream: (...asked) => {
      hasAsked = !isQuiet;
      return questions.readFiles(boundary, ...asked);
    },
  };
  const stored = storedPack(pack.spool, MAX_READS);
  const found = await searchPack(stored, names, noted, kindOfFile, memory, MAX_FINDINGS);
  findings.addHits(found.hits);
  findings.addWords(found.words, found.files ?? []);
  const { leaks, lines, words } = findings;
  const gaps = gapsOf(names, findings, named, found);
  const remarks = [...words, ...remarksOn(wordsIn(texts, plan), found)];
  const searched = searchedLine(names.identities);
  const seen = {
    hasGitlinks: found.hasGitlinks,
    hasWorkflows: found.files?.some((path) => /(?:^|\/)workflows\//.test(path)) === true,
  };
  const [worst] = leaks;
  if (worst === undefined) {
    const isIdle = !names.hasNames && names.identities.skipped.size > 0;
    const nothing = words.length === 0 ? nothingFound(names, gaps) : [];
    const shownFirst = options.preview
      ? [...nothing, searched, ...gaps]
      : [...gaps, ...(isIdle ? [searched] : [])];
    return { lines: [...shownFirst, ...remarks], refusal: null, ...seen };
  }
  const wouldRefuse = settings.identityCheck === 'refuse' && !options.publishNames;
  const canSignOff = wouldRefuse && !options.signOff && haveOwnSignOff(pack.kept, work.commits);
  const wayOut = canSignOff
    ? ['To sign off as the bot instead, which replaces your own sign-offs, add: -o sign-off']
    : [];
  const all = [worst.heading, ...lines, ...wayOut, ...gaps, searched, ...remarks];
  if (wouldRefuse && !options.preview) {
    const uncompared = isQuiet ? [NOT_COMPARED] : [];
    throw wouldBePublic(leaks, [...all, ...uncompared, hasAsked ? WAS_READ : NOT_SENT]);
  }
  return { lines: all, refusal: wouldRefuse ? worst.reason : null, ...seen };
}

/** The last commit first: if there are too many people, it is more likely the one who pushes. */
function* headersOf({ work, pack, published }: NameSearch): Generator<HeaderSource> {
  for (let back = 1; back <= work.commits.length; back++) {
    const { oid, commit } = work.commits.at(-back)!;
    if (published.has(oid)) continue;
    const content = pack.kept.withOid(oid)?.content;
    if (content !== undefined) yield { content, encoding: commit.encoding };
  }
  for (const { type, content } of pack.kept.objects()) if (type === 'tag') yield { content, encoding: null };
}

/** Ids of this push stand there as zeros. */
type Texts = readonly (readonly [where: string, text: Uint8Array])[];

function* bytesIn(texts: Texts, plan: Plan): Generator<Uint8Array> {
  yield* plan.messages();
  for (const [, text] of texts) yield text;
}

function* wordsIn(texts: Texts, plan: Plan): Generator<readonly [where: string, text: string]> {
  for (const [where, text] of texts) yield [where, Buffer.from(text).toString()];
  for (const message of plan.messages()) yield ['a message', Buffer.from(message).toString()];
}

/** Those of pull requests at the host. */
async function publicIdsOf(
  { oids, likely }: NamedCommits,
  { advertised }: NameSearch['questions'],
): Promise<ReadonlyMap<string, unknown>> {
  const whole = [...oids, ...likely.filter((id) => id.length === OID_HEX_LENGTH)];
  return (whole.length === 0 ? null : await advertised(new Set(whole))) ?? new Map();
}

const MAX_FINDINGS = 10;
const SHOWN_OF_CREDENTIAL = 12;
/** Folders and files of tests and examples, whose credentials are made up as a rule. */
const EXAMPLES =
  /(?:^|[/._-])(?:tests?|spec|specs|fixtures?|examples?|samples?|mocks?|testdata|e2e)(?:[/._-]|$)/i;

/** @property reason for the status table. @property heading before the places where it was found. */
interface Leak {
  readonly reason: string;
  readonly heading: string;
  readonly advice: readonly string[];
}

const REMOVE_NAMES = [
  'Remove it and push again: "git commit --amend" changes the last commit, "git rebase -i" earlier ones.',
];

/** The worst first. */
const LEAKS = {
  name: {
    reason: 'your name would become public',
    heading: 'Your name or address would become public:',
    advice: REMOVE_NAMES,
  },
  credential: {
    reason: 'a credential would become public',
    heading: 'A credential would become public:',
    advice: [
      'Whoever issued it knows whose it is, and hosts tell the issuer of what they find. Remove it and push again: "git commit --amend"',
      'changes the last commit, "git rebase -i" earlier ones. If it was ever pushed elsewhere, revoke it.',
    ],
  },
  'others-name': {
    reason: 'the name of another author would become public',
    heading: 'The name or address of an author other than the newest commit’s would become public:',
    advice: REMOVE_NAMES,
  },
  id: {
    reason: 'original commit ids would become public',
    heading: 'The original id of a commit would become public:',
    advice: [
      'An original id was made from your name and the time, so anybody can use it to test a guess at who you are. And it leads',
      'nowhere, because the service gives your commits other ids. Remove it and push again.',
    ],
  },
  'change-id': {
    reason: 'a Change-Id would become public',
    heading: 'A Change-Id would become public:',
    advice: [
      'Gerrit’s hook makes a Change-Id from your name, your address, the time and your time zone, so anybody can use it to test',
      'a guess at who you are. Remove its line from the last commit with "git -c gerrit.createChangeId=false commit --amend",',
      'from earlier ones with "git -c gerrit.createChangeId=false rebase -i". Without that setting, the hook adds another one.',
      'Did "git cherry-pick" copy it from a commit of upstream? Then it is public already, and its line can be deleted safely.',
    ],
  },
  merge: {
    reason: 'names of your branches or remotes would become public',
    heading: 'The message of a merge names something that upstream does not have:',
    advice: [
      'It may be a branch, a remote, a folder or an address of yours. "git rebase" onto upstream’s branch drops merges,',
      'and -o squash makes one commit of all. Or change the message: "git commit --amend", "git rebase -i --rebase-merges".',
    ],
  },
} as const satisfies Record<string, Leak>;

/** Headings of what is likely only, as it may mean something else: no leak. */
const LIKELY = {
  credentials:
    'This looks like a credential, by which its issuer knows you. Check it before it becomes public:',
  ids: 'These look like ids of commits that upstream does not have. An original id of yours would help to guess your name:',
  days: 'The day on which you made a commit would become public. Remove it from the message:',
  words: 'A name or login may become public. Check whether these lines name you:',
};

type What = keyof typeof LEAKS | keyof typeof LIKELY;

/** What a push would reveal of the person, found in its messages, texts and files. */
export class Findings {
  readonly #names: SearchedNames;
  readonly #refusesAll: boolean;
  readonly #lines = new Map<What, string[]>();

  /** @param refusesAll whether what only looks like a credential is a leak, too. */
  constructor(names: SearchedNames, refusesAll = false) {
    this.#names = names;
    this.#refusesAll = refusesAll;
  }

  /** Ids of own commits in it do not count, as they are replaced. @param where in the words of the message. */
  addText(where: () => string, text: Uint8Array): void {
    const addLine = (what: What, at: number) => this.#add(what, where, () => lineAround(text, at));
    for (const at of changeIdsIn(text)) addLine('change-id', at + 1);
    const { name, word, credentials } = this.#names.firstIn(text);
    for (const credential of credentials) this.#addCredential(where(), credential, false);
    if (name !== null) addLine(this.#leakOf(name.text), name.end - 1);
    if (word !== null) addLine('words', word.end - 1);
  }

  /** @param lines of files. @param paths of new files. */
  addWords(lines: readonly string[], paths: readonly string[]): void {
    for (const words of lines) this.#add('words', 'a changed file', () => words);
    for (const path of paths) {
      if (this.#names.firstIn(utf8(path)).word !== null) this.#add('words', 'name of a file', () => path);
    }
  }

  addMessages(messages: Iterable<Uint8Array>, privateIn: PrivateIn): void {
    for (const message of messages) {
      const where = (): string => `message of "${shown(subjectOf(message))}"`;
      this.addText(where, message);
      for (const day of ownDaysIn(message)) this.#add('days', where, () => day);
      for (const sentence of privateIn(message)) if (!this.#add('merge', where, () => sentence)) break;
    }
  }

  /** Commits that a message names and nobody has. */
  addStrangers(
    { oids, likely }: Pick<NamedCommits, 'oids' | 'likely'>,
    publics: ReadonlyMap<string, unknown>,
  ): void {
    const where = 'a message names a commit that upstream does not have';
    for (const id of likely) if (!publics.has(id)) this.#add('ids', 'a message', () => id);
    for (const oid of oids) if (!publics.has(oid)) this.#add('id', where, () => oid);
  }

  addHits(hits: readonly ContentHit[]): void {
    for (const { excerpt, kind, text, credential, path } of hits) {
      const file = path === null ? 'a changed file' : shown(path);
      if (credential !== null) {
        this.#addCredential(file, credential, path === null || EXAMPLES.test(path));
        continue;
      }
      const where = kind === 'name' ? 'name of a file' : file;
      const isId = this.#names.kindOf(text) === 'id';
      const whose = isId ? `${where}: the id of a commit of this push` : where;
      this.#add(this.#leakOf(text), whose, () => Buffer.from(excerpt).toString());
    }
  }

  /** What was found, the worst first. */
  get leaks(): readonly Leak[] {
    return this.#foundOf(LEAKS).map((kind) => LEAKS[kind]);
  }

  /** Where. */
  get lines(): readonly string[] {
    return this.#foundOf(LEAKS)
      .flatMap((kind) => this.#lines.get(kind) ?? [])
      .slice(0, MAX_FINDINGS);
  }

  /** What is likely only, under headings. */
  get words(): readonly string[] {
    return this.#foundOf(LIKELY).flatMap((kind) => [LIKELY[kind]].concat(this.#lines.get(kind) ?? []));
  }

  #foundOf<T extends What>(kinds: Readonly<Record<T, unknown>>): T[] {
    return (Object.keys(kinds) as T[]).filter((kind) => this.#lines.has(kind));
  }

  /** Only its beginning is shown, because terminals and logs remember. @param isExample it may be. */
  #addCredential(where: string, { what, isProven, text }: Credential, isExample: boolean): void {
    const kind = (isProven && !isExample) || this.#refusesAll ? 'credential' : 'credentials';
    this.#add(kind, where, () => `${what} (${shown(text.slice(0, SHOWN_OF_CREDENTIAL))}…)`);
  }

  #leakOf(text: number): keyof typeof LEAKS {
    const kind = this.#names.kindOf(text);
    return kind === 'id' || kind === 'others-name' ? kind : 'name';
  }

  /** False if no more are shown. */
  #add(kind: What, where: string | (() => string), describe: () => string): boolean {
    const lines = this.#lines.get(kind) ?? [];
    if (lines.length === 0) this.#lines.set(kind, lines);
    if (lines.length >= MAX_FINDINGS) return false;
    lines.push(`  ${typeof where === 'string' ? where : where()}: ${shown(describe())}`);
    return true;
  }
}

function subjectOf(message: Uint8Array): string {
  return Buffer.from(message.subarray(0, 400)).toString().trimStart().split('\n')[0] ?? '';
}

function lineAround(text: Uint8Array, at: number): string {
  const start = Math.max(text.lastIndexOf(0x0a, at - 1) + 1, at - MAX_SHOWN_LENGTH);
  const end = text.indexOf(0x0a, at);
  return Buffer.from(text.subarray(start, end < 0 ? text.length : end)).toString();
}

/** @param leaks at least one, the worst first. @param lines where they are, and what was searched. */
export function wouldBePublic(leaks: readonly Leak[], lines: readonly string[]): Refusal {
  return new Refusal('names', leaks[0]?.reason ?? '', [
    ...lines,
    ...new Set(leaks.flatMap(({ advice }) => advice)),
    'To publish it anyway, add: -o publish-names',
  ]);
}

function nothingFound({ hasNames, identities }: SearchedNames, gaps: readonly string[]): string[] {
  if (!hasNames) return [];
  if (identities.skipped.size > 0 || gaps.length > 0)
    return ['The service found none of the words that it searched for.'];
  return ['The service found no name or address of the commits’ authors in what would become public.'];
}

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

/** What was not searched, or cannot be told. */
function gapsOf(
  { isComplete, hasAllIds }: SearchedNames,
  { lines }: Findings,
  strangers: NamedCommits,
  found: PackFindings,
): string[] {
  const unnamed = strangers.areStrange ? [] : strangers.oids;
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
    ...unnamed.map((oid) => `A message names the commit ${oid}. Make sure that it is not one of yours.`),
  ];
}
