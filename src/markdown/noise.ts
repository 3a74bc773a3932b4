/**
 * Whether a text would disturb many people who have nothing to do with it: each `@name` notifies somebody, and each link
 * to an issue, a pull request or a commit of another repository leaves a line there. What the bot account writes for
 * everybody must not do that in bulk: hosts suspend accounts for it.
 *
 * As GitHub reads a text, or a little more: who is mentioned there need not exist. Code mentions nobody. Pure, and
 * linear in the text.
 */
import { fullName, type RepositoryName } from '../repository-name.ts';
import { withCharacters } from './forged-footer.ts';
import { DISPUTED_SPACE, withoutCode } from './html-tags.ts';
import { cellsOf, Outline } from './outline.ts';

/** Of different ones, in one text. */
const MOST = 5;

/** Where a text is to be posted. */
export interface Whereabouts {
  /** Address of the code host. */
  readonly hostUrl: string;
  readonly repository: RepositoryName;
}

const NAME = '[a-z0-9](?:[-_.]?[a-z0-9])*';
/** A person or a team. Emphasis may stand before it, but no word, as in an address. */
const MENTION = new RegExp(`(?<![a-z0-9]_*)@(?<mention>${NAME}(?:/${NAME})?)`, 'gi');
const REFERENCE =
  /(?<![\w./-])(?<owner>[\w.-]{1,100})\/(?<name>[\w.-]{1,100})(?:[#!](?<number>\d{1,10})|@(?<commit>[0-9a-f]{7,64}))(?!\w)/gi;
/** What a host takes for a link without further marks: an `@` in it mentions nobody. */
const WEB_ADDRESS =
  /(?<![^\s*_~(<])https?:\/\/[a-z0-9-]+(?:\.[a-z0-9-]+)+(?::\d+)?(?:[/?#][^\s<>()[\]*`"]*)?/gi;
const ESCAPED = /\\([!-/:-@[-`{-~])/g;
/** What is in them is no Markdown, and our outline of a text does not know where they end. */
const RAW_HTML = /<(?:script|style|textarea)/i;
const NAMED_CHARACTERS: Readonly<Record<string, string>> = { commat: '@', num: '#', sol: '/' };

/** Completes "body …"; null: the text disturbs nobody. */
export function noiseIn(text: string, where: Whereabouts): string | null {
  const mentions = new Set<string>();
  const references = new Set<string>();
  const own = fullName(where.repository).toLowerCase();
  const refer = ({ groups = {} }: RegExpExecArray): void => {
    const repository = `${groups['owner']}/${groups['name']}`.toLowerCase();
    if (repository !== own)
      references.add(`${repository}#${groups['number'] ?? groups['commit']}`.toLowerCase());
  };
  const link = linkTo(where.hostUrl);
  for (const part of partsOutsideCode(text)) {
    const shown = asShown(part);
    for (const found of shown.matchAll(link)) {
      refer(found);
      if (references.size > MOST) return TOO_MANY_REFERENCES;
    }
    const words = shown.replaceAll(WEB_ADDRESS, ' ');
    for (const found of words.matchAll(REFERENCE)) {
      refer(found);
      if (references.size > MOST) return TOO_MANY_REFERENCES;
    }
    for (const { groups = {} } of words.matchAll(MENTION)) {
      mentions.add((groups['mention'] as string).toLowerCase());
      if (mentions.size > MOST) return TOO_MANY_MENTIONS;
    }
  }
  return null;
}

const TOO_MANY_MENTIONS = `mentions more than ${MOST} people or teams`;
const TOO_MANY_REFERENCES = `refers to more than ${MOST} issues, pull requests or commits of other repositories`;

/** The message for the author of several texts; null: none of them disturbs anybody. @param texts by their names. */
export function noiseProblem(texts: Readonly<Record<string, string>>, where: Whereabouts): string | null {
  for (const [name, text] of Object.entries(texts)) {
    const noise = noiseIn(text, where);
    if (noise !== null) return `${name} ${noise}; leave some out, or write them in backticks`;
  }
  return null;
}

/** A page of an issue, a pull request or a commit. */
function linkTo(hostUrl: string): RegExp {
  const host = hostUrl.replace(/^https?:\/\//, '').replaceAll(/[^\w]/g, String.raw`\$&`);
  const page = String.raw`(?<owner>[\w.-]{1,100})/(?<name>[\w.-]{1,100})/(?:issues|pulls?|discussions|commits?)/(?<number>\w{1,64})`;
  return new RegExp(`//(?:www\\.)?${host}/${page}`, 'gi');
}

/** The text and the HTML; all of it, if it depends on the program what is code. */
function* partsOutsideCode(text: string): Generator<string> {
  const outline = new Outline();
  for (const line of text.split(/\r\n|\n|\r/)) outline.add(line);
  if (outline.problem !== null || RAW_HTML.test(text) || DISPUTED_SPACE.test(text)) {
    yield text;
    return;
  }
  for (const leaf of outline.leaves) {
    const whole = leaf.lines.join('\n');
    if (leaf.kind === 'html') yield whole;
    else yield withoutCode(whole);
    // A code span cannot reach from one cell into the next.
    if (leaf.mayBeTable) for (const cell of cellsOf(leaf)) yield withoutCode(cell);
  }
}

function asShown(markdown: string): string {
  return withCharacters(markdown.replaceAll(ESCAPED, '$1')).replaceAll(
    /&(commat|num|sol);/g,
    (_, name: string) => NAMED_CHARACTERS[name] as string,
  );
}
