/** Paths of home folders in texts. */
import { expect, it } from 'vitest';
import { homeFoldersIn } from '../../../src/git/search/home-folders.ts';

it.each([
  ['see /home/ada/src/a.c', '/home/ada'],
  ['"/Users/Ada Lovelace/x" and more', '/Users/Ada'],
  ['-I/Users/ada.l/include', '/Users/ada.l'],
  ['--prefix=/Users/ada.l/include', '/Users/ada.l'],
  [String.raw`in C:\Users\ada\x`, String.raw`C:\Users\ada`],
  [String.raw`"C:\\Users\\ada\\x"`, String.raw`C:\\Users\\ada`],
  ['d:/Users/ada/x', 'd:/Users/ada'],
  ['/mnt/c/Users/ada/x', '/mnt/c/Users/ada'],
  ['/c/Users/ada/x', '/c/Users/ada'],
  ['/cygdrive/c/Users/ada/x', '/cygdrive/c/Users/ada'],
  ['/var/home/ada/x', '/var/home/ada'],
  ['/usr/home/ada/x', '/usr/home/ada'],
  ['/export/home/ada/x', '/export/home/ada'],
  ['/Volumes/Backup/Users/ada/x', '/Volumes/Backup/Users/ada'],
  ['src/home/ada/x pages/Users/ada/x', null],
  ['file:///home/zoë/x', '/home/zoë'],
  ['/home/ad', '/home/ad'],
  ['https://x.example/home/ada/', null],
  ['/users/ada/repos', null],
  ['/home/$USER/x /home/<name>/x /home/{id}/x /home/*/x', null],
  ['/home/runner/work /Users/Shared/x /home/user/x', null],
  ['cd /home/adalov && make', '/home/adalov'],
  ['"cwd": "/home/adalov",', '/home/adalov'],
  ['HOME=/home/adalov;', '/home/adalov'],
  ['(see /home/adalov)', '/home/adalov'],
  ['It is /home/adalov.', '/home/adalov'],
  ['scp box:/home/ada.lov-1@corp:', '/home/ada.lov-1@corp'],
  ['`/home/adalov`', '/home/adalov'],
  ['/home/user, /home/me: /home/$USER', null],
])('in %j: %j', (text, path) => {
  expect([...homeFoldersIn(text)]).toEqual(path === null ? [] : [path]);
});
