/**
 * Paths of home folders, such as `/home/ada/` and `C:\Users\ada\`: often with a login, often with
 * nobody's.
 */
import { beginning, bytesOf } from './text-search.ts';

const SLASHES = '/\\';
/** What stands before each name. Strings of many languages double a backslash. */
export const HOME_TEXTS = ['home', 'Users'].map((folder) =>
  beginning(bytesOf(SLASHES), [...Array.from(folder), SLASHES]),
);

/**
 * What people and systems make logins of. Anything else ends the name, and a full stop ends a
 * sentence.
 */
const NAME = String.raw`[\p{L}\p{N}_](?:[\p{L}\p{N}\p{M}_.@+~-]{0,62}[\p{L}\p{N}\p{M}_])?`;
/**
 * Also behind the options of compilers; on Fedora, FreeBSD, Solaris, WSL, Git Bash, Cygwin, and on
 * other disks.
 */
const PATHS = new RegExp(
  String.raw`(?<=^|[^\p{L}\p{N}]|-[IL])(?:\/(?:mnt\/|cygdrive\/)?[a-z]|\/(?:var|usr|export)|\/Volumes\/[\w.-]{1,40}|[A-Za-z]:)?(?:\/(?:home|Users)\/|\\{1,2}Users\\{1,2})(${NAME})`,
  'gu',
);
/** What tools and documents call somebody. */
const NOBODYS = new Set(
  'user,username,you,me,name,runner,ubuntu,vagrant,vscode,codespace,jenkins,circleci,node,git,root,app,shared,public'
    .concat(',default,linuxbrew,foo,bar,example')
    .split(','),
);

/** Paths that name somebody, up to the name. @param text which may be cut at its end. */
export function* homeFoldersIn(text: string): Generator<string> {
  // Most texts have none, and the pattern takes longer.
  if (!/home[/\\]|Users[/\\]/.test(text)) return;
  for (const [path, name = ''] of text.matchAll(PATHS)) if (!NOBODYS.has(name.toLowerCase())) yield path;
}
