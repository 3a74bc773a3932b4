/** Whether a text looks like a footer of the service once it is shown, however it is written. Pure and linear. */

import { TAG } from './block-starts.ts';
import { LINK_TAIL } from './html-tags.ts';

/** Letters of other scripts that look like those of our footers. */
const LOOKALIKES = new Map(
  [
    ...'аaαaоoοoеeєeсcϲcрpρpкkκkмmгrтtτtіiіiιiѕsуyνvԁdһhհhɡgոnпnмmАaΑaΒbВbЕeΕeНhΗhІiΙiКkΚkМmΜmΝnОoΟoРpΡpСcТtΤt'.matchAll(
      /../gu,
    ),
  ].map(({ 0: [letter = '', latin = ''] }) => [letter, latin] as const),
);

const COMMENT_FOOTER = /anon[0-9a-f]{8}karma\d+report/;
const ISSUE_FOOTER =
  /thisissueisananonymouscontributionmadevia|theoriginalauthorsidentityhasbeenanonymi[sz]ed/;

const TAGS = new RegExp(TAG, 'g');
const LINK_TAILS = new RegExp(`${LINK_TAIL.source}|\\]\\[[^[\\]]*\\]`, 'gs');

/** @param text of one paragraph, or of one piece of HTML, as it is written. */
export function looksLikeFooter(text: string): boolean {
  // What has the form of a link or a comment may be none, and is shown then.
  const withoutLinks = text.replaceAll(LINK_TAILS, ']');
  return [text, withoutLinks].some((shown) => [shown, withoutComments(shown)].some(isFooter));
}

/** No regular expression: it would search the rest of the text for the end of each comment that has none. */
function withoutComments(text: string): string {
  let shown = '';
  let at = 0;
  for (;;) {
    const start = text.indexOf('<!--', at);
    const end = start < 0 ? -1 : text.indexOf('-->', start + '<!--'.length);
    if (end < 0) return shown + text.slice(at);
    shown += text.slice(at, start);
    at = end + '-->'.length;
  }
}

function isFooter(shown: string): boolean {
  const letters = lettersOf(shown);
  return COMMENT_FOOTER.test(letters) || ISSUE_FOOTER.test(letters);
}

/** Letters and digits are left, as they look. */
function lettersOf(markdown: string): string {
  const text = withCharacters(markdown.replaceAll(TAGS, ''))
    .replaceAll(/&[A-Za-z][A-Za-z0-9]{1,31};/g, '')
    .normalize('NFKD');
  let letters = '';
  for (const character of text) {
    const latin = (LOOKALIKES.get(character) ?? character).toLowerCase();
    if (/^[a-z0-9]$/.test(latin)) letters += latin;
  }
  return letters;
}

/** With characters in place of the numbers that stand for them in HTML. */
export function withCharacters(html: string): string {
  return html.replaceAll(/&#(?:x([0-9a-f]{1,6})|(\d{1,7}));/gi, (_, hex?: string, decimal?: string) =>
    characterOf(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)),
  );
}

function characterOf(codePoint: number): string {
  return codePoint <= 0x10_ff_ff ? String.fromCodePoint(codePoint) : '';
}
