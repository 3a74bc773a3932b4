/** What a person is told of before a push is published, and may well want: nothing of it refuses a push. */
import { homeFoldersIn } from '../../../git/search/home-folders.ts';
import type { PackFindings } from '../../../git/search/pack-search.ts';
import { shown, told } from './shown.ts';

/** After so many paths, no further text is looked at. */
const MAX_FOUND = 1_000;
/** Files of editors and systems that tell what somebody works on, and where. */
const LEFTOVERS =
  /(?:^|\/)(?:\.DS_Store|Thumbs\.db|workspace\.xml|[^/]*\.(?:sw[nop]|code-workspace)|\.vscode\/.+|\.idea\/.+)$/i;
/** Files that are compressed, so that no search of bytes finds a name in them, and hold names of authors and cameras. */
const OPAQUE =
  /\.(?:png|jpe?g|gif|webp|avif|heic|tiff?|psd|pdf|docx?|xlsx?|pptx?|od[tspg]|zip|jar|gz|tgz|bz2|xz|7z|zst|rar|mp[34]|mov)$/i;

/** @param texts that become public besides files, by what they are called. */
export function remarksOn(
  texts: Iterable<readonly [where: string, text: string]>,
  found: Pick<PackFindings, 'homeFolders' | 'files' | 'hasBinaries'>,
): string[] {
  const homes = new Set(found.homeFolders.map((line) => `a changed file: ${shown(line)}`));
  for (const [where, text] of texts) {
    if (homes.size > MAX_FOUND) break;
    for (const path of homeFoldersIn(text)) homes.add(`${where}: ${shown(path)}`);
  }
  const { files } = found;
  const unnamed =
    'This push is too large to tell which images, PDF files, office files and archives it adds.';
  return [
    ...told('Paths of home folders become public. Look whether they name you:', [...homes]),
    ...told('Files of an editor or a system become public:', filesLike(files, LEFTOVERS)),
    ...told('Nobody has looked inside these files for names:', filesLike(files, OPAQUE)),
    ...(files === null && found.hasBinaries ? [unnamed, 'Nobody has looked inside them for names.'] : []),
  ];
}

function filesLike(files: readonly string[] | null, pattern: RegExp): string[] {
  return (files ?? []).filter((path) => pattern.test(path)).map(shown);
}
