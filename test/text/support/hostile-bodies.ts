/**
 * Markdown that costs far more than a look at each character, if whoever reads it is careless: a
 * piece, repeated.
 */

/** As many characters as a comment may have. */
export const MOST_CHARACTERS = 65_536;

export const PIECES: readonly string[] = [
  // Links, images, definitions.
  '[',
  '![',
  '![[',
  '[a](',
  '[a](b "',
  '[a](<b',
  '](a "',
  '[a](`',
  '[a]: b\n',
  '[a][b]',
  '[^a]: [^a] ',
  '<a:',
  // Emphasis and code.
  '*a_ ',
  '**a *a ',
  '_*',
  '~~a~ ',
  '` `` ``` ',
  '$`',
  // HTML.
  '<!--',
  '<!-- -',
  '<a b="<',
  "<a b='",
  `<a b='" c="' `,
  '<a     ',
  '<a b ',
  '<b>',
  '<b></i>',
  '<?',
  '<!A ',
  '<![CDATA[',
  '&#1',
  '&amp;',
  // Blocks.
  '> ',
  '- ',
  '1. ',
  '>\n',
  '- a\n\n',
  // Lines that go on with a quote without its mark.
  '>#\nb\n',
  '>-\nb\n',
  '><div>\nb\n',
  '==\n> [a]: |-|\n',
  '* * ',
  '|-|\n',
  '|`@a\n',
  '```\n',
  '\t',
  '# ',
  // What is looked for in it.
  '@a ',
  '@a/b#1 ',
  'o/r#1 ',
  'a@b',
  '_',
  'a/',
  'a/b#',
  'https://git.test/o/',
  'https://a.a.',
  'anon-0badf00d karma',
  '\\@',
  '_@',
  '\u0301\u0323',
  '\ufdfa',
];

/** Bodies that repeating one piece cannot make. */
const OTHERS: Readonly<Record<string, string>> = {
  'nested emphasis': `${'*a **a '.repeat(4_600)}${'b** b*'.repeat(5_400)}`,
  'nested links': `${'[a'.repeat(10_000)}${'](b)'.repeat(11_000)}`,
  'nested images': `${'![a'.repeat(9_000)}${'](b)'.repeat(9_500)}`,
  'nested quotes': Array.from({ length: 360 }, (_, depth) => '>'.repeat(depth)).join('\n'),
  'nested lists': Array.from({ length: 360 }, (_, depth) => `${' '.repeat(depth)}-`).join('\n'),
  'longer and longer code': Array.from({ length: 360 }, (_, length) => '`'.repeat(length)).join(' '),
  'longer and longer fences': Array.from({ length: 355 }, (_, length) => '`'.repeat(length + 3)).join('\n'),
  'a wide table': `${'|a'.repeat(8_000)}\n${'|-'.repeat(8_000)}\n${'|b\n'.repeat(10_000)}`,
  'a long table': `|a|\n|-|\n${'|<b>\n'.repeat(13_000)}`,
  'definitions and uses': `${'[a]: b\n'.repeat(4_000)}\n${'[a]'.repeat(12_000)}`,
  'an attribute without an end': `<a ${'b=c '.repeat(16_000)}`,
  'a link behind white space': `[a](${' \n'.repeat(32_000)}`,
};

/** Each by its name. */
export const HOSTILE_BODIES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    PIECES.map((piece) => [JSON.stringify(piece), piece.repeat(MOST_CHARACTERS / piece.length)]),
  ),
  ...OTHERS,
};
