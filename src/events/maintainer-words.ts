/**
 * Finds what a maintainer tells the bot in a comment (docs/maintainers.md). Pure. A word stands on
 * a line of its own. Lines in quotes, lists, code and behind any HTML do not count, because they
 * may repeat somebody else's words or may not be shown.
 */
import type { Role } from '../host/code-host.ts';
import { type Markdown, readMarkdown } from '../text/markdown.ts';

const WORDS = ['stop', 'mute', 'welcome', 'close all'] as const;
export type MaintainerWord = (typeof WORDS)[number];

/** The longest comment that is read. GitHub's have 65,536 characters at most. */
const LONGEST = 128 * 1024;

/** Names an account as people mention it: an App without `[bot]`. In small letters. */
export function mentionOf({ login }: { readonly login: string }): string {
  return login.replace(/\[bot\]$/, '').toLowerCase();
}

/**
 * Lists the words of a comment in their order, closing last.
 * @param own the bot's account and the App's.
 */
export function wordsIn(text: string, own: readonly { readonly login: string }[]): readonly MaintainerWord[] {
  const mentions = own.map((account) => `@${mentionOf(account)}`);
  const lowered = text.length > LONGEST ? '' : text.toLowerCase();
  if (!mentions.some((mention) => lowered.includes(mention))) return [];
  const said = new Set(shownLines(readMarkdown(text).tokens ?? []).map(plainly));
  const isSaid = (line: string, word: string) => mentions.some((mention) => line === `${mention} ${word}`);
  const words = [...said].flatMap((line) => WORDS.filter((word) => isSaid(line, word)));
  return words.toSorted((a, b) => Number(a === 'close all') - Number(b === 'close all'));
}

/** Drops case, further spaces and a full stop, as people write them. */
function plainly(line: string): string {
  const words = line.toLowerCase().split(/\s+/).join(' ');
  return /[.!]$/.test(words) ? words.slice(0, -1) : words;
}

type Tokens = NonNullable<Markdown['tokens']>;

/** Lists the lines of paragraphs that are in nothing else, until the first HTML. */
function shownLines(tokens: Tokens): string[] {
  const lines: string[] = [];
  for (const [index, { type, level, children }] of tokens.entries()) {
    if (type === 'html_block') break;
    const isShown = type === 'inline' && level === 1 && tokens[index - 1]?.type === 'paragraph_open';
    if (children?.some((child) => child.type === 'html_inline')) break;
    if (isShown) lines.push(...linesOf(children ?? []));
  }
  return lines;
}

/** Lists the lines of a paragraph, those with markup as empty ones. */
function linesOf(children: Tokens): string[] {
  const lines = [''];
  const plain = [true];
  for (const { type, content } of children) {
    if (type === 'softbreak' || type === 'hardbreak') {
      lines.push('');
      plain.push(true);
    } else if (type === 'text') lines[lines.length - 1] += content;
    else plain[plain.length - 1] = false;
  }
  return lines.map((line, index) => (plain[index] ? line.trim() : ''));
}

/**
 * Decides whether somebody may say a word. Hosts name people as members who may only read, so what
 * opens a repository again, or closes much at once, needs more than what closes it.
 * @param hasStopped whether the same person has said before the word that this one takes back or
 * follows.
 */
export function maySay(word: MaintainerWord, standing: Role, hasStopped: boolean): boolean {
  if (standing !== 'maintainer') return standing === 'owner';
  return word === 'stop' || word === 'mute' || hasStopped;
}
