/**
 * Footers that the service writes under texts (contract, 2.5 and 2.6). The blank line keeps `---`
 * from making the text above a heading.
 */

/** The path of the page to which texts for maintainers lead. */
export const MAINTAINERS_PATH = '/maintainers';

/** The longest comment or issue that the host takes, in characters (code points). */
export const MAX_TEXT_CHARACTERS = 65_536;

/** Matches a comment's footer, with any link: an old comment has an old address of the service. */
const FOOTER_PATTERN =
  /(?<start>\n---\r?\nanon-(?<hash>[0-9a-f]{8}) · karma \()(?<karma>\d+)(?<end>\) · \[report\]\(\S+\)\s*)$/;

/** Facts in the footer of a comment. */
interface FooterFacts {
  readonly hash: string;
  readonly karma: number;
  /** Scheme and host of the service. */
  readonly origin: string;
}

export function commentText(body: string, by: FooterFacts): string {
  const link = `${by.origin}/v1/moderation/report?hash=${by.hash}`;
  return `${body}\n\n---\nanon-${by.hash} · karma (${by.karma}) · [report](${link})`;
}

/** Gives how many characters the words may have if they are too long; null if they fit. */
export function exceededRoom(body: string, by: FooterFacts): number | null {
  const excess = characters(commentText(body, by)) - MAX_TEXT_CHARACTERS;
  return excess > 0 ? characters(body) - excess : null;
}

export function issueText(body: string, serviceUrl: string): string {
  const origin = `*This issue is an anonymous contribution made via [gitveil](${serviceUrl}).*`;
  return `${body}\n\n---\n${origin}\n*The original author's identity has been anonymized.*`;
}

/** Tells the maintainers why nobody will answer them. */
export function reportText(description: string, serviceUrl: string): string {
  return `${description}\n\n---\n*This report was sent anonymously via [gitveil](${serviceUrl}). Its author sees no reply.*`;
}

/**
 * Makes the footer of pull requests to repositories whose policy asks for it.
 * @param maintainersUrl address of the page about such pull requests.
 */
export function pullRequestFooter(serviceUrl: string, maintainersUrl: string): string {
  const origin = `*This is an anonymous contribution made via [gitveil](${serviceUrl}).*`;
  return `\n\n---\n${origin}\n*[What maintainers should know](${maintainersUrl})*`;
}

/** Answers whether the text ends with the footer of an anonymous comment. */
export function hasFooter(text: string): boolean {
  return FOOTER_PATTERN.test(text);
}

/** Splits a comment into its words and the hash in its footer; null if it has no footer. */
export function splitFooter(text: string): { readonly words: string; readonly hash: string } | null {
  const found = FOOTER_PATTERN.exec(text);
  return found && { words: text.slice(0, found.index).trimEnd(), hash: found.groups?.['hash'] ?? '' };
}

/** Reads the karma in the footer; null if the text does not end with a footer of this hash. */
export function shownKarma(text: string, hash: string): number | null {
  const { groups } = FOOTER_PATTERN.exec(text) ?? {};
  return groups?.['hash'] === hash ? Number(groups['karma']) : null;
}

/** Replaces the karma in the footer; null if somebody has edited the footer of this hash away. */
export function withKarma(text: string, hash: string, karma: number): string | null {
  return shownKarma(text, hash) === null ? null : text.replace(FOOTER_PATTERN, `$<start>${karma}$<end>`);
}

/** Counts code points, as hosts do: a surrogate pair of a JavaScript string is one character. */
export function characters(text: string): number {
  let count = text.length;
  for (const character of text) if (character.length === 2) count -= 1;
  return count;
}
