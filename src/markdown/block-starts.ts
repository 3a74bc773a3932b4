/**
 * How the blocks of CommonMark 0.31 begin and end, as far as they decide what is HTML and what is code. Every function
 * gets a line without tabs, from its first character that is no space.
 */

const ATTRIBUTE = String.raw`[ \n]+[A-Za-z_:][\w:.-]*(?:[ \n]*=[ \n]*(?:[^ \n"'=<>${'`'}]+|'[^'<]*'|"[^"<]*"))?`;
/** A tag, by the grammar that CommonMark and HTML share; none with `<` in an attribute: finding those is not linear. */
export const TAG = String.raw`<(?:(?<opened>[A-Za-z][A-Za-z0-9-]*)(?:${ATTRIBUTE})*[ \n]*/?|/(?<closed>[A-Za-z][A-Za-z0-9-]*)[ \n]*)>`;
/** What could become a tag if an attribute may hold `<`. */
export const TAG_WITH_TAG = String.raw`<[A-Za-z][A-Za-z0-9-]*(?:${ATTRIBUTE})*[ \n]+[A-Za-z_:][\w:.-]*[ \n]*=[ \n]*(?:"[^"<]*|'[^'<]*)<`;
const TAG_ALONE = new RegExp(`^${TAG} *$`);

const BLOCK_NAMES =
  'address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|' +
  'fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|' +
  'menuitem|nav|noframes|ol|optgroup|option|p|param|section|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul';
const BLOCK_TAG = new RegExp(`^</?(?:${BLOCK_NAMES})(?: |/?>|$)`, 'i');
/** They begin a block in some versions of CommonMark, and not in others. */
const DISPUTED_TAG = /^<(?:\/?(?:search|source)(?: |\/?>|$)|![A-Za-z])/i;

export type HtmlStart =
  /** Goes on until a line holds `end`; null: until an empty line. */
  | { readonly kind: 'html'; readonly end: string | null; readonly mayInterrupt: boolean }
  /** Renderers do not agree whether this is HTML. */
  | { readonly kind: 'disputed' };

/** One that ends where a line holds `end`. */
function until(end: string): HtmlStart {
  return { kind: 'html', end, mayInterrupt: true };
}

export function htmlStart(text: string): HtmlStart | null {
  if (!text.startsWith('<')) return null;
  if (/^<pre(?: |>|$)/i.test(text)) return until('</pre>');
  if (text.startsWith('<!--')) return until('-->');
  if (text.startsWith('<?')) return until('?>');
  if (text.startsWith('<![CDATA[')) return until(']]>');
  if (DISPUTED_TAG.test(text)) return { kind: 'disputed' };
  if (BLOCK_TAG.test(text)) return { kind: 'html', end: null, mayInterrupt: true };
  return TAG_ALONE.test(text) ? { kind: 'html', end: null, mayInterrupt: false } : null;
}

export interface Fence {
  readonly mark: '`' | '~';
  readonly length: number;
}

export function fenceStart(text: string): Fence | null {
  const [run] = /^(?:`{3,}(?=[^`]*$)|~{3,})/.exec(text) ?? [];
  return run === undefined ? null : { mark: run[0] as Fence['mark'], length: run.length };
}

export function endsFence(text: string, { mark, length }: Fence): boolean {
  const [run = ''] = (mark === '`' ? /^`+(?= *$)/ : /^~+(?= *$)/).exec(text) ?? [];
  return run.length >= length;
}

export function isHeading(text: string): boolean {
  return /^#{1,6}(?: |$)/.test(text);
}

export function isUnderline(text: string): boolean {
  return /^(?:=+|-+) *$/.test(text);
}

export function isThematicBreak(text: string): boolean {
  return /^(?:(?:\* *){3,}|(?:_ *){3,}|(?:- *){3,})$/.test(text);
}

export interface ListItem {
  /** Of the marker and the spaces behind it. */
  readonly width: number;
  readonly isEmpty: boolean;
  /** Whether it may follow a line of a paragraph without an empty line between. */
  readonly mayInterrupt: boolean;
}

export function listItem(text: string): ListItem | null {
  const [marker] = /^(?:[*+-]|\d{1,9}[.)])(?= |$)/.exec(text) ?? [];
  if (marker === undefined) return null;
  const rest = text.slice(marker.length);
  const spaces = rest.search(/[^ ]|$/);
  const isEmpty = spaces === rest.length;
  const isFirst = !/^\d/.test(marker) || Number(marker.slice(0, -1)) === 1;
  const width = isEmpty || spaces > 4 ? marker.length + 1 : marker.length + spaces;
  return { width, isEmpty, mayInterrupt: isFirst && !isEmpty };
}

/** The line below the header of a table; more lines than a renderer takes for one. */
export function isDelimiterRow(line: string): boolean {
  return /^[|:\- ]*-[|:\- ]*$/.test(line) && /[|:]/.test(line);
}
