/** Files that programs leave beside somebody's work, known by their names. */
import { expect, it } from 'vitest';
import { toldByName } from '../../src/leaks/file-trails.ts';

it.each(
  `.DS_Store src/.a.c.swp my.code-workspace .vscode/settings.json .idea/workspace.xml workspace.xml App.xcodeproj/xcuserdata/ada.xcuserdatad/x.plist
  src/.#a.c #a.c# a.c~ .bash_history x/.python_history .netrc .git-credentials .ssh/config id_ed25519 .env build/CMakeCache.txt nb/.ipynb_checkpoints/a.ipynb
  .vs/x desktop.ini hs_err_pid1234.log lib/core.1234 vgcore.7 sh.exe.stackdump
  a.png:Zone.Identifier a.png\uf03aZone.Identifier a.png:com.dropbox.attrs ._a.c x/._.DS_Store __MACOSX/a .nfs000000000123abcd00000001
  .aider.chat.history.md .aider.input.history .aider.tags.cache.v4/x.db .specstory/history/2026-01-15-x.md .codex/sessions/2026/x.jsonl .gemini/tmp/chats/x.json
  .claude/settings.local.json CLAUDE.local.md site.HAR a.pcapng demo.cast
  claude.ai-chat-019cb9fe-b11b-753f-99e7-8ecc52b73ec4.md notes/Session_019CB9FE-b11b-753f-99e7-8ecc52b73ec4`.split(
    /\s+/,
  ),
)('%s is what a program leaves', (path) => {
  expect(toldByName(path)).not.toBeNull();
});

it.each(
  `a.c README logo.svg swp png.ts DS_Store.md my.vscode/x .env.example .npmrc id_rsa.md src/history.ts netrc.c docs/idea/x core.c core hs_err.log core.1.md
  Zone.Identifier.md __init__.py _a.c .nfs.md CLAUDE.md .claude/settings.json .github/workflows/history.yml src/session.ts src/chat/history/x.md
  .aider.conf.yml .aiderignore session-store.test.ts cast.ts 019cb9fe-b11b-753f-99e7-8ecc52b73ec4.json settings.local.json`.split(
    /\s+/,
  ),
)('%s is not', (path) => {
  expect(toldByName(path)).toBeNull();
});
