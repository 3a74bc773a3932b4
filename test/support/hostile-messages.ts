/**
 * Commit messages that cost far more than a look at each byte, if whoever reads them is careless;
 * by what they are full of.
 */

export const HOSTILE_MESSAGES: Readonly<Record<string, (bytes: number) => string>> = {
  'slashes behind the word of a merge': (bytes) => `Merge ${'/'.repeat(bytes)}x`,
  'sources of one merge': (bytes) => `Merge branch 'x${fill("' of y", bytes)}\u2028`,
  'names in one merge': (bytes) => `Merge branches ${fill("'a'", bytes)}`,
  'sentences of merges': (bytes) => fill("Merge branch 'a' of b into c\n", bytes),
  'home folders, each another one': (bytes) => numbered(bytes, (n) => `/home/ada${n}/ `),
  'one home folder': (bytes) => fill('/home/ada/ ', bytes),
  'addresses, each another one': (bytes) => numbered(bytes, (n) => `a${n}@b.example `),
  'beginnings of addresses': (bytes) => fill('a@', bytes),
  'trailers, each another one': (bytes) => `Mend it\n\n${numbered(bytes, (n) => `Acked-by: A ${n}\n`)}`,
  'trailers that go on': (bytes) => `Mend it\n\na: b\n${fill(' \t\r\n', bytes)}`,
  'sign-offs': (bytes) => `Mend it\n\n${fill('Signed-off-by: A <a@b.example>\n', bytes)}`,
  'ids of commits': (bytes) =>
    numbered(bytes, (n) => `This reverts commit ${String(n).padStart(40, '0')}.\n`),
  'ids of changes': (bytes) => numbered(bytes, (n) => `I${String(n).padStart(40, '0')} `),
  'mentions and references': (bytes) => `Mend it\n\n${numbered(bytes, (n) => `@a${n} b/c#${n} `)}`,
  'HTML comments without an end': (bytes) => `Mend it\n\n${fill('<!--', bytes)}`,
  'white space': (bytes) => `${' '.repeat(bytes)}x`,
  'carriage returns': (bytes) => fill('\r', bytes),
  'line feeds': (bytes) => `${'\n'.repeat(bytes)}x`,
  NULs: (bytes) => fill('\0', bytes),
  'characters that are shown as nothing': (bytes) => `x@y.example ${'\u200b'.repeat(bytes / 3)}`,
};

function fill(part: string, bytes: number): string {
  return part.repeat(Math.ceil(bytes / part.length));
}

function numbered(bytes: number, one: (number: number) => string): string {
  return Array.from({ length: Math.ceil(bytes / one(1_000_000).length) }, (_, number) => one(number)).join(
    '',
  );
}
