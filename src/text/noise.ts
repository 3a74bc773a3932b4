/**
 * Refuses texts that would disturb many people: each `@name` notifies somebody, and each link to a
 * thread or commit of another repository leaves a line there. Hosts suspend accounts that do this
 * in bulk. Texts are read as GitHub reads them, and whatever looks like a name counts, whether or
 * not somebody has it. Code mentions nobody. Pure, and linear in the text.
 */
import { fullName, type RepositoryName } from '../words/repository-name.ts';
import { partsOf } from './html-elements.ts';
import { holdsDefinition, isAmbiguous, type Markdown, MOST_CONTAINERS, withCharacters } from './markdown.ts';

/** How many different people, or different threads and commits, one text may name. */
const MOST = 5;

interface Whereabouts {
  readonly hostUrl: string;
  readonly repository: RepositoryName;
}

/** Matches a person or a team. Emphasis may stand before it, but no word: that is an address. */
const MENTION = /(?<![a-z0-9]_*)@([a-z0-9](?:[-_.]?[a-z0-9])*(?:\/[a-z0-9](?:[-_.]?[a-z0-9])*)?)/g;
const REFERENCE = /(?<![\w./-])([\w.-]{1,100}\/[\w.-]{1,100})(?:[#!](\d{1,10})|@([0-9a-f]{7,64}))(?!\w)/g;
/** Matches what hosts take for a link without any marks: an `@` in it mentions nobody. */
const WEB_ADDRESS =
  /(?<![^\s*_~(<])https?:\/\/[a-z0-9-]+(?:\.[a-z0-9-]+)+(?::\d+)?(?:[/?#][^\s<>()[\]*`"]*)?/g;
/** Pages of a repository that lead to issues, pull requests, discussions or commits. */
const PAGES = new Set(['issues', 'pull', 'pulls', 'discussions', 'commit', 'commits']);
/** The longest path of such a page. */
const MAX_PATH_LENGTH = 300;
/** Matches elements whose content is no Markdown, and whose end depends on the program. */
const RAW_HTML = /<(?:iframe|math|no(?:embed|frames|script)|plaintext|script|style|svg|textarea|title|xmp)/i;

const TOO_MANY_MENTIONS = `mentions more than ${MOST} people or teams`;
const TOO_MANY_REFERENCES = `refers to more than ${MOST} issues, pull requests or commits of other repositories`;

/**
 * Gives the message for the author; null if no text disturbs many people.
 * @param texts by the names that the message gives them.
 */
export function noiseProblem(texts: Readonly<Record<string, Markdown>>, where: Whereabouts): string | null {
  for (const [name, text] of Object.entries(texts)) {
    const noise = noiseIn(text, where);
    if (noise !== null) return `${name} ${noise}; leave some out, or write them in backticks`;
  }
  return null;
}

/** Gives words that complete "body …"; null if the text does not disturb many people. */
export function noiseIn(text: Markdown, where: Whereabouts): string | null {
  return noiseOf(shownIn(text), where);
}

const AT = 0x40;
const SLASH = 0x2f;

/** Tells if a message has as many signs as a loud one must have, without decoding it. */
export function mayBeLoud(message: Uint8Array): boolean {
  let [mentions, references] = [0, 0];
  for (const byte of message) {
    if (byte === AT) mentions += 1;
    else if (byte === SLASH) references += 1;
  }
  return Math.max(mentions, references) > MOST;
}

/** Does the same as `noiseIn` for a commit message, in which hosts read no Markdown. */
export function noiseInMessage(message: string, where: Whereabouts): string | null {
  return noiseOf([message], where);
}

function noiseOf(texts: Iterable<string>, { hostUrl, repository }: Whereabouts): string | null {
  const [mentions, references] = [new Set<string>(), new Set<string>()];
  const host = hostUrl.replace(/^https?:\/\//, '').toLowerCase();
  const own = fullName(repository).toLowerCase();
  for (const text of texts) {
    // A text may come in thousands of pieces, of which few name anybody.
    if (!/[@/]/.test(text)) continue;
    const lower = text.toLowerCase();
    const plain = lower.replaceAll(WEB_ADDRESS, ' ');
    for (const [name, what] of lower.includes('/') ? namedIn(lower, plain, host) : []) {
      if (name !== own && references.add(`${name}#${what}`).size > MOST) return TOO_MANY_REFERENCES;
    }
    for (const [, mention = ''] of plain.matchAll(MENTION)) {
      if (mentions.add(mention).size > MOST) return TOO_MANY_MENTIONS;
    }
  }
  return null;
}

/**
 * Finds threads and commits that a text names: each with its repository and its number or id.
 * @param plain is the text without addresses.
 */
function* namedIn(
  text: string,
  plain: string,
  host: string,
): Generator<readonly [name: string, what: string]> {
  for (const start of [`//${host}/`, `//www.${host}/`]) {
    for (let at = text.indexOf(start); at >= 0; at = text.indexOf(start, at + 1)) {
      const path = text.slice(at + start.length, at + start.length + MAX_PATH_LENGTH);
      const [owner = '', name = '', page = '', rest = ''] = path.split('/', 4);
      const [what] = /^\w+/.exec(rest) ?? [];
      if (PAGES.has(page) && what !== undefined) yield [`${owner}/${name}`, what];
    }
  }
  for (const [, name = '', number, commit = ''] of plain.matchAll(REFERENCE)) {
    yield [name, number ?? commit];
  }
}

/**
 * Gives what a Markdown text shows outside of code, and where its links lead; the whole text if
 * that depends on the program, or takes too long to find.
 */
function* shownIn({ text, tokens }: Markdown): Generator<string> {
  // markdown-it leaves out what lies too deep.
  const isDeep = tokens?.some(({ level }) => level > MOST_CONTAINERS) !== false;
  if (tokens === null || isDeep || isAmbiguous(text) || RAW_HTML.test(text))
    return yield withCharacters(text);
  for (const { type, content, children } of tokens) {
    const isHtml = type === 'html_block';
    // The tag continues after its block, so what looks like code there may be a part of the tag.
    if (isHtml && [...partsOf(content)].at(-2)?.kind === 'unfinished') return yield withCharacters(text);
    if (isHtml || (type === 'inline' && holdsDefinition(content))) yield withCharacters(content);
    for (const child of children ?? []) {
      yield String(child.attrGet('href') ?? '');
      if (child.type === 'html_inline') yield withCharacters(child.content);
      else if (child.type !== 'code_inline') yield child.content;
    }
  }
}
