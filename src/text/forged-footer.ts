/** Whether a text looks like a footer of the service once it is shown, however it is written. Pure and linear. */

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

/** @param shown the words of one paragraph, or of one piece of HTML. */
export function looksLikeFooter(shown: string): boolean {
  const known = new Map<string, string>();
  const latinOf = (character: string): string => {
    const latin = known.get(character) ?? asLatin(character);
    known.set(character, latin);
    return latin;
  };
  const latin = shown.replaceAll(/[^\0-\x7f]/gu, latinOf).toLowerCase();
  const letters = latin.replaceAll(/[^a-z0-9]+/g, '');
  return COMMENT_FOOTER.test(letters) || ISSUE_FOOTER.test(letters);
}

/** Each character for itself: to normalise many accents at once takes the square of their number. */
function asLatin(character: string): string {
  return Array.from(character.normalize('NFKD'), (letter) => LOOKALIKES.get(letter) ?? letter).join('');
}
