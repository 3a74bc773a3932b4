/**
 * Finds trails in messages: what tools write without being asked, and what leads from a public
 * message to an account, a machine or an employer. Shapes are recognized, not makers, wherever
 * there is a shape.
 */
import { latin1 } from '../git/bytes.ts';
import type { Memory } from '../git/memory.ts';
import { UNTITLED } from '../git/objects/commit-message.ts';
import { countdown, type Reword } from '../git/objects/reword.ts';
import { contentEnd } from '../git/objects/trailers.ts';
import { isBlank, type LineWithId, linesWithIds, LONG_RUN, SESSION_KEY } from '../git/search/message-ids.ts';
import { Looks } from '../git/search/looks.ts';
import { tooLarge } from '../git/wire/protocol-error.ts';
import { lineAround } from './findings.ts';
import { shown, told, unsearchedLines } from './lines.ts';

/** A kind of trail in messages, titles and descriptions. */
interface MessageTrail {
  /** The severity. Only what names an account as certainly as a token does refuses a push. */
  readonly severity: 'refuse' | 'warn';
  /** The heading of its lines, which says what they tell. */
  readonly heading: string;
  /** True if the tool wrote the whole line, so that it can be left out. */
  readonly isWhole: boolean;
  /** Match the beginnings of its lines. Without patterns, they are lines with ids. */
  readonly patterns: readonly RegExp[];
}

/** The worst first. */
const MESSAGE_TRAILS = {
  // code.claude.com/docs/en/settings-reference (`attribution.sessionUrl`) and Amp's manual
  // (`Amp-Thread-ID`): both write such a trailer unless they are told not to.
  session: {
    severity: 'refuse',
    heading: 'A tool has written the id of your session into a message. It leads to your account:',
    isWhole: true,
    patterns: [],
  },
  // git-svn(1) (`git-svn-id`), pypi.org/project/gitprivacy, docs.entire.io (`Entire-Checkpoint`).
  trailer: {
    severity: 'warn',
    heading: 'These trailers have ids, which may lead to you:',
    isWhole: true,
    patterns: [],
  },
  // git-merge(1), `--squash`; git-commit(1), `--cleanup`; Git's pretty.c, remote.c, wt-status.c.
  note: {
    severity: 'warn',
    heading: 'Git’s own notes tell your local time, or names of your branches and files:',
    isWhole: true,
    patterns: [
      /^[ \t]{0,9}(?:Author|Commit)?Date: {1,9}[A-Z][a-z]{2} [A-Z][a-z]{2} {1,2}\d{1,2} \d\d:\d\d:\d\d \d{4}/gm,
      /^(?:[#;@!$%^&|:] )?On branch [^ \t\r\n:]{1,200}$/gm,
      /^(?:[#;@!$%^&|:] )?(?:Untracked files|Changes (?:to be committed|not staged for commit)):$/gm,
      /^(?:[#;@!$%^&|:] )?Your branch (?:is (?:up to date with|ahead of|behind|based on)|and) '/gm,
    ],
  },
  // RFC 3986 and RFC 9562: nobody writes such ids by hand.
  link: {
    severity: 'warn',
    heading: 'These links have ids, by which their servers may know you:',
    isWhole: false,
    patterns: [],
  },
  // bash(1), PROMPTING, with the settings of Debian and Fedora; zshmisc(1), with that of macOS.
  prompt: {
    severity: 'warn',
    heading: 'The prompt of a shell names your login and your machine:',
    isWhole: false,
    patterns: [
      /^[ \t]{0,40}(?:\([^()\n]{1,40}\) )?(?:[a-z_][\w.-]{0,31}@[\w.-]{1,40}(?::[~/][^\s$#]{0,200}[$#]| [^\s%]{1,40} %)|\[[a-z_][\w.-]{0,31}@[\w.-]{1,40} [^\s\]]{1,40}\][$#])(?=\s)/gm,
    ],
  },
} as const satisfies Record<string, MessageTrail>;

type Kind = keyof typeof MESSAGE_TRAILS;
const KINDS = Object.keys(MESSAGE_TRAILS) as readonly Kind[];

const STRIP_ADVICE = 'To publish the messages without these trailers and notes, add: -o strip-trails';

/** The kind of `Looks`. */
const TRAILS = 'trails of tools in messages';
/** Maximum number of ids and notes in a push whose messages are rewritten. */
const MAX_STRIPPED = 20_000;
const LF = 0x0a;
/** The characters that `core.commentChar=auto` may choose (git-config(1)). */
const COMMENT_SIGNS = '#;@!$%^&|:';
/** The same names as in `SESSION_KEY`, but for threads: every forum has links to them. */
const SESSION_LINK = /session|chat|conversation|transcript/i;

interface Place {
  readonly kind: Kind;
  /** The start of the line. */
  readonly start: number;
  /** The end of the trail itself, or the start of its id. */
  readonly at: number;
}

/**
 * Yields the places of trails in a message: first lines with ids, then those that match a pattern.
 * @param text has its bytes as Latin-1.
 * @param usual has keys and servers that are nobody's: upstream's messages have them.
 */
function* trailsIn(text: string, usual: ReadonlySet<string>, mayLook: () => boolean): Generator<Place> {
  for (const line of linesWithIds(text, mayLook)) {
    const kind = kindOf(line, usual);
    if (kind !== null) yield { kind, start: line.start, at: line.at };
  }
  for (const kind of KINDS) {
    for (const pattern of MESSAGE_TRAILS[kind].patterns) {
      for (const { 0: words, index: start } of text.matchAll(pattern)) {
        if (!mayLook()) return;
        yield { kind, start, at: start + words.length - 1 };
      }
    }
  }
}

/**
 * Returns the kind of a line, or null if upstream's messages have its key or server, too. A
 * session's line is never null.
 */
function kindOf({ key, link, server }: LineWithId, usual: ReadonlySet<string>): Kind | null {
  if (key !== null && SESSION_KEY.test(key)) return usual.has(key) ? 'trailer' : 'session';
  const isSession = link !== null && SESSION_LINK.test(link);
  if (!isSession && usual.has(server ?? key ?? '')) return null;
  return key === null ? 'link' : 'trailer';
}

/** Match every message that has a trail. */
export const MAY_HAVE_TRAILS: readonly RegExp[] = [
  LONG_RUN,
  ...KINDS.flatMap((kind) => MESSAGE_TRAILS[kind].patterns),
];

/** A message, or the title or the description that the person gave. */
interface Searched {
  /** Returns where it stands, in the words of the answer. */
  readonly where: () => string;
  readonly text: Uint8Array;
  /** Whether it is a message, of which `-o strip-trails` leaves lines out. */
  readonly isMessage: boolean;
}

/** Lines for the person about what messages and texts tell. */
interface TrailsTold {
  /** The lines that refuse the push. */
  readonly refused: readonly string[];
  /** Whether messages have such lines, and whether other texts have them. */
  readonly isRefusedIn: { readonly messages: boolean; readonly texts: boolean };
  readonly warned: readonly string[];
  readonly advice: readonly string[];
}

/** Number of passes over a text. */
const PASSES = 4;

export async function tellTrails(
  texts: AsyncIterable<Searched> | Iterable<Searched>,
  usual: ReadonlySet<string>,
  memory: Pick<Memory, 'worked'>,
): Promise<TrailsTold> {
  const looks = new Looks();
  const lines = new Map<Kind, Set<string>>(KINDS.map((kind) => [kind, new Set()]));
  const isRefusedIn = { messages: false, texts: false };
  let canStrip = false;
  for await (const { where, text, isMessage } of texts) {
    for (const place of trailsIn(latin1(text), usual, () => looks.take(TRAILS))) {
      const { severity, isWhole } = MESSAGE_TRAILS[place.kind];
      lines.get(place.kind)!.add(`${where()}: ${shown(lineOf(text, place))}`);
      canStrip ||= isMessage && isWhole;
      if (severity === 'refuse') isRefusedIn[isMessage ? 'messages' : 'texts'] = true;
    }
    await memory.worked(PASSES * text.byteLength);
  }
  const toldOf = (severity: MessageTrail['severity']) =>
    KINDS.filter((kind) => MESSAGE_TRAILS[kind].severity === severity).flatMap((kind) =>
      told(MESSAGE_TRAILS[kind].heading, [...lines.get(kind)!]),
    );
  return {
    refused: toldOf('refuse'),
    isRefusedIn,
    warned: toldOf('warn'),
    advice: [...(canStrip ? [STRIP_ADVICE] : []), ...unsearchedLines(looks.ended)],
  };
}

/** A trailer that is folded is shown with its key. */
function lineOf(text: Uint8Array, { start, at }: Place): string {
  const line = lineAround(text, at);
  return text.subarray(start, at).includes(LF) ? `${lineAround(text, start + 1)} ${line}` : line;
}

/**
 * `-o strip-trails`: leaves out the lines that tools have written, and nothing else.
 * @param usual has only what never changes: the same message has to give the same commit, whatever
 * upstream's newest messages are.
 */
export function stripperOf(usual: ReadonlySet<string>): Reword {
  const count = countdown(MAX_STRIPPED, tooManyTrails);
  return (_, message) => {
    const text = latin1(message);
    const words = withoutTrails(text, usual, () => {
      count();
      return true;
    });
    return words === text ? message : Buffer.from(words, 'latin1');
  };
}

function tooManyTrails(): Error {
  return tooLarge(
    `The messages have more than ${MAX_STRIPPED} lines that may be trails. Push fewer commits at once, or without -o strip-trails.`,
  );
}

/** The message, with one blank line where a paragraph was left out. @param text as Latin-1. */
function withoutTrails(text: string, usual: ReadonlySet<string>, mayLook: () => boolean): string {
  const whole = [...trailsIn(text, usual, mayLook)].filter(({ kind }) => MESSAGE_TRAILS[kind].isWhole);
  if (whole.length === 0) return text;
  const kept: string[] = [];
  let from = 0;
  let isAfterBlank = true;
  for (const place of whole.toSorted((a, b) => a.start - b.start)) {
    if (place.start < from) continue;
    const words = text.slice(from, place.start);
    if (words !== '') isAfterBlank = words.endsWith('\n\n');
    kept.push(words);
    from = endOf(text, place);
    if (isAfterBlank) while (text[from] === '\n') from++;
  }
  const rest = kept.join('') + text.slice(from);
  const end = contentEnd(rest);
  return `${end === 0 ? UNTITLED : rest.slice(0, end)}\n`;
}

/** Returns the end of a line, and of those that continue it. */
function endOf(text: string, place: Place): number {
  const continues = continuationOf(text, place);
  let end = place.at;
  do {
    end = text.indexOf('\n', end) + 1;
    if (end === 0) return text.length;
  } while (continues(end));
  return end;
}

/**
 * Tells if the line that begins at an offset belongs to a trailer, a template of comments, or a
 * list of files. Before these, older versions of Git have a blank line (wt-status.c).
 */
function continuationOf(text: string, { kind, start, at }: Place): (lineStart: number) => boolean {
  if (kind !== 'note') return (lineStart) => isBlank(text[lineStart]);
  const sign = text[start]!;
  if (COMMENT_SIGNS.includes(sign)) return (lineStart) => text[lineStart] === sign;
  // A date, or the name of a branch, stands alone.
  if (text[at] !== ':') return () => false;
  return (lineStart) => isBlank(text[lineStart]) || text.startsWith('\n\t', lineStart);
}
