/** Remarks for the person before a push is published. None of them refuses a push, because all of it may be wanted. */
import { homeFoldersIn } from '../../../git/search/home-folders.ts';
import type { PackFindings } from '../../../git/search/pack-search.ts';
import { shown, told } from './shown.ts';

/** The search of texts ends after so many paths: each is kept, and a message can hold a hundred thousand. */
const MAX_FOUND = 1_000;
/** Files of editors and systems that tell what somebody works on, and where. */
const LEFTOVERS =
  /(?:^|\/)(?:\.(?:vscode|idea)\/|(?:\.DS_Store|Thumbs\.db|workspace\.xml)$)|\.(?:sw[nop]|code-workspace)$/i;
/** Files that are compressed, so that no search of bytes finds a name in them, and hold names of authors and cameras. */
const OPAQUE =
  /\.(?:png|jpe?g|gif|webp|avif|heic|tiff?|psd|pdf|docx?|xlsx?|pptx?|od[tspg]|zip|jar|gz|tgz|bz2|xz|7z|zst|rar|mp[34]|mov)$/i;

type Remarkable = Pick<PackFindings, 'homeFolders' | 'files' | 'hasBinaries'>;

/** @param texts that become public besides files, by what they are called. */
export function remarksOn(
  texts: Iterable<readonly [where: string, text: string]>,
  found: Remarkable,
): string[] {
  const homes = new Set<string>();
  for (const line of homesIn(texts, found)) if (homes.add(line).size === MAX_FOUND) break;
  const { files } = found;
  const unnamed =
    'This push is too large to tell which images, PDF files, office files and archives it adds.';
  return [
    ...told('Paths of home folders become public. Check whether they name you:', [...homes].map(shown)),
    ...told('Files of an editor or a system become public:', filesLike(files, LEFTOVERS)),
    ...told('The service cannot search inside these files for names:', filesLike(files, OPAQUE)),
    ...(files === null && found.hasBinaries
      ? [unnamed, 'The service cannot search inside them for names.']
      : []),
  ];
}

function* homesIn(
  texts: Iterable<readonly [where: string, text: string]>,
  { homeFolders }: Remarkable,
): Generator<string> {
  for (const path of homeFolders) yield `a changed file: ${path}`;
  for (const [where, text] of texts) for (const path of homeFoldersIn(text)) yield `${where}: ${path}`;
}

function filesLike(files: readonly string[] | null, pattern: RegExp): string[] {
  return (files ?? []).filter((path) => pattern.test(path)).map(shown);
}
