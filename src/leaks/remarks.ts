/**
 * Findings about files that refuse nothing: home folders, leftovers of programs, metadata.
 */
import type { PackFindings } from '../git/search/pack-search.ts';
import { type Finding, say, warnAt } from '../words/finding.ts';
import { COMPILED } from './file-kinds.ts';
import { toldByName } from './file-trails.ts';
import { firstOf, shown, told } from './lines.ts';

const REMOVE_METADATA =
  'To remove it from a file: "exiftool -all= <file>", or "mat2 --inplace <file>", which also reads documents.';

/** Lists the files that tell something, one of each kind first, because only some are shown. */
function ofEachKindFirst(paths: readonly string[]): string[] {
  const found = paths.flatMap((path) => {
    const tells = toldByName(path);
    return tells === null ? [] : { tells, line: `${shown(path)}: ${tells}` };
  });
  const kinds = [...Map.groupBy(found, ({ tells }) => tells).values()];
  return [...kinds.map((files) => files.slice(0, 1)), ...kinds.map((files) => files.slice(1))]
    .flat()
    .map(({ line }) => line);
}

type Remarkable = Pick<PackFindings, 'homeFolders' | 'files' | 'opaque'>;

/**
 * Findings that refuse nothing, because all of it may be wanted.
 * @param homes paths of home folders in texts, with where they are.
 */
export function remarksOn(homes: Iterable<string>, { homeFolders, files, opaque }: Remarkable): Finding[] {
  const {
    telling = [],
    compiled = [],
    silent = [],
  } = Object.groupBy(opaque, ({ tells, kind }) => {
    if (tells.length > 0) return 'telling';
    return COMPILED.has(kind) ? 'compiled' : 'silent';
  });
  const inFiles = homeFolders.map(({ home, path }) => `${path ?? 'a changed file'}: ${home}`);
  return [
    ...warnAt(
      'home-folders',
      homeFolders.flatMap(({ path }) => path ?? []),
      ...told(
        'Paths of home folders become public. Check whether they name you:',
        Array.from(firstOf([...inFiles, ...homes]), shown),
      ),
    ),
    ...warnAt(
      'leftovers',
      (files ?? []).filter((path) => toldByName(path) !== null),
      ...told('Files of an editor, a system or one machine become public:', ofEachKindFirst(files ?? [])),
    ),
    ...warnAt(
      'metadata',
      telling.flatMap(({ path }) => path ?? []),
      ...told('These pictures say more than they show:', telling.map(described)),
    ),
    ...warnAt(
      'compiled-files',
      compiled.flatMap(({ path }) => path ?? []),
      ...told(
        'These files are compiled, and may hold paths of the machine that has made them:',
        compiled.map(described),
      ),
    ),
    ...say(
      'opaque-files',
      ...told('The service cannot search inside these files for names:', silent.map(described)),
    ),
    ...(telling.length + silent.length === 0 ? [] : say('metadata-tools', REMOVE_METADATA)),
  ];
}

function described({ path, kind, tells }: Remarkable['opaque'][number]): string {
  const name = path === null ? kind : `${shown(path)} (${kind})`;
  return tells.length === 0 ? name : shown(`${name}: ${tells.join('; ')}`);
}
