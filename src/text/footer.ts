/**
 * What the service writes under texts (contract, 2.5, 2.6). Without the blank line, `---` is a
 * heading.
 */

/** The longest comment or issue that the host takes, in characters (code points). */
export const MAX_TEXT_CHARACTERS = 65_536;

/**
 * The last line of a comment. It matches any link, because an old comment keeps its old host name.
 */
const FOOTER_PATTERN =
  /(?<start>\n---\r?\nanon-(?<hash>[0-9a-f]{8}) · karma \()(?<karma>\d+)(?<end>\) · \[report\]\(\S+\)\s*)$/;

/** What the footer of a comment says. */
interface By {
  readonly hash: string;
  readonly karma: number;
  /** Scheme and host of the service. */
  readonly origin: string;
}

export function commentText(body: string, by: By): string {
  const link = `${by.origin}/v1/moderation/report?hash=${by.hash}`;
  return `${body}\n\n---\nanon-${by.hash} · karma (${by.karma}) · [report](${link})`;
}

/** How many characters an author's words may have that are longer; null: the host takes them. */
export function exceededRoom(body: string, by: By): number | null {
  const excess = characters(commentText(body, by)) - MAX_TEXT_CHARACTERS;
  return excess > 0 ? characters(body) - excess : null;
}

export function issueText(body: string, serviceUrl: string): string {
  const origin = `*This issue is an anonymous contribution made via [gitveil](${serviceUrl}).*`;
  return `${body}\n\n---\n${origin}\n*The original author's identity has been anonymized.*`;
}

/**
 * For a repository whose policy asks for it.
 * @param maintainersUrl of the page about such pull requests.
 */
export function pullRequestFooter(serviceUrl: string, maintainersUrl: string): string {
  const origin = `*This is an anonymous contribution made via [gitveil](${serviceUrl}).*`;
  return `\n\n---\n${origin}\n*[What maintainers should know](${maintainersUrl})*`;
}

/** Whether the text ends with the footer of an anonymous comment. */
export function hasFooter(text: string): boolean {
  return FOOTER_PATTERN.test(text);
}

/** The karma that the footer shows; null if the text does not end with a footer of this hash. */
export function shownKarma(text: string, hash: string): number | null {
  const { groups } = FOOTER_PATTERN.exec(text) ?? {};
  return groups?.['hash'] === hash ? Number(groups['karma']) : null;
}

/**
 * The same comment with another karma in its footer; null if it has no footer of this hash (someone
 * has edited it).
 */
export function withKarma(text: string, hash: string, karma: number): string | null {
  return shownKarma(text, hash) === null ? null : text.replace(FOOTER_PATTERN, `$<start>${karma}$<end>`);
}

/** The host counts code points: a surrogate pair of a JavaScript string is one character. */
export function characters(text: string): number {
  let count = text.length;
  for (const character of text) if (character.length === 2) count -= 1;
  return count;
}
