import { expect, it } from 'vitest';
import { isLeftover } from '../../src/leaks/messages.ts';

it.each(
  `.DS_Store src/.a.c.swp my.code-workspace .vscode/settings.json .idea/workspace.xml workspace.xml App.xcodeproj/xcuserdata/ada.xcuserdatad/x.plist
  src/.#a.c #a.c# a.c~ .bash_history x/.python_history .netrc .git-credentials .ssh/config id_ed25519 .env build/CMakeCache.txt nb/.ipynb_checkpoints/a.ipynb
  .vs/x desktop.ini hs_err_pid1234.log lib/core.1234 vgcore.7 sh.exe.stackdump`.split(/\s+/),
)('%s is what a program leaves', (path) => {
  expect(isLeftover(path)).toBe(true);
});

it.each(
  'a.c README logo.svg swp png.ts DS_Store.md my.vscode/x .env.example .npmrc id_rsa.md src/history.ts netrc.c docs/idea/x core.c core hs_err.log core.1.md'.split(
    ' ',
  ),
)('%s is not', (path) => {
  expect(isLeftover(path)).toBe(false);
});
