/**
 * Finds paths of home folders, such as `/home/ada/` and `C:\Users\ada\`. They often contain a
 * login, and often nobody's.
 */
import { beginning, byteClass } from './text-search.ts';

const SLASHES = '/\\';
/** The texts before each name. Strings in many languages double a backslash. */
export const HOME_TEXTS = ['home', 'Users'].map((folder) =>
  beginning(byteClass(SLASHES), [...Array.from(folder), SLASHES]),
);

/**
 * Matches logins, as people and systems make them. Anything else ends the name, and a full stop
 * ends a sentence.
 */
const NAME = String.raw`[\p{L}\p{N}_](?:[\p{L}\p{N}\p{M}_.@+~-]{0,62}[\p{L}\p{N}\p{M}_])?`;
/**
 * Matches the paths, also after options of compilers, and of Fedora, FreeBSD, Solaris, WSL, Git
 * Bash, Cygwin and other disks.
 */
const PATHS = new RegExp(
  String.raw`(?<=^|[^\p{L}\p{N}]|-[IL])(?:\/(?:mnt\/|cygdrive\/)?[a-z]|\/(?:var|usr|export)|\/Volumes\/[\w.-]{1,40}|[A-Za-z]:)?(?:\/(?:home|Users)\/|\\{1,2}Users\\{1,2})(${NAME})`,
  'gu',
);
/** Names by which tools and documents mean nobody in particular. */
const NOBODYS = new Set(
  'user,username,you,me,name,runner,ubuntu,vagrant,vscode,codespace,jenkins,circleci,node,git,root,app,shared,public'
    .concat(',default,linuxbrew,foo,bar,example')
    .split(','),
);

/**
 * Yields paths that name somebody, up to the name.
 * @param text may be cut at its end.
 */
export function* homeFoldersIn(text: string): Generator<string> {
  // Most texts have none, and the pattern takes longer.
  if (!/home[/\\]|Users[/\\]/.test(text)) return;
  for (const [path, name = ''] of text.matchAll(PATHS)) if (!NOBODYS.has(name.toLowerCase())) yield path;
}
