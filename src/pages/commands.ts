/**
 * The commands for one repository, ready to copy, and the script that updates them while the name is typed.
 *
 * Without the script, the browser reloads the page for a new name, and people select the commands by hand.
 */
import { html } from 'hono/html';
import { parseRepositoryName, type RepositoryName } from '../host/repository-name.ts';
import type { Html } from './layout.ts';

/** `owner/repo`, or the address of the repository's page, as people paste it. */
const REPOSITORY_TEXT =
  /^\s*(?:https?:\/\/[^/\s]+\/)?([A-Za-z0-9._-]{1,100})\/([A-Za-z0-9._-]{1,100})\/?\s*$/;

/** The repository that someone has typed; null if it is none. */
export function parseRepositoryText(text: string): RepositoryName | null {
  const [, owner = '', name = ''] = REPOSITORY_TEXT.exec(text) ?? [];
  return parseRepositoryName(owner, name);
}

/** The text before and after the remote's address. `what` is the title above it, and part of the button's label. */
const COMMANDS = {
  clone: { what: 'Get the code', before: 'git clone ', after: '' },
  push: { what: 'Commit as usual, then push', before: 'git push ', after: ' HEAD:my-change' },
} as const;

/** @param base of all remotes, with a slash at its end. @param path `owner/repo` or a placeholder. */
export function commandList(base: string, path: string): Html {
  const remote = html`<span data-remote="${base}">${base}${path}</span>`;
  const commands = Object.values(COMMANDS).map(
    ({ what, before, after }) =>
      html`<div class="command">
        <p class="soft small">${what}</p>
        <div>
          <code>${before}${remote}${after}</code>
          <button type="button" class="quiet" data-copy hidden>
            Copy<span class="unseen"> the command: ${what}</span>
          </button>
        </div>
      </div>`,
  );
  return html`${commands}
    <p class="unseen" role="status" id="copied"></p>`;
}

/** The same for a terminal. */
export function commandText(base: string, path: string): string[] {
  return Object.values(COMMANDS).map(({ before, after }) => `${before}${base}${path}${after}`);
}

export const COMMAND_SCRIPT = `
const field = document.getElementById('repo');
const pattern = ${String(REPOSITORY_TEXT)};
field?.addEventListener('input', () => {
  const [, owner = '<owner>', name = '<repo>'] = pattern.exec(field.value) ?? [];
  for (const remote of document.querySelectorAll('[data-remote]')) {
    remote.textContent = remote.dataset.remote + owner + '/' + name.replace(/\\.git$/, '');
  }
});
for (const button of document.querySelectorAll('[data-copy]')) {
  // Browsers offer the clipboard only to pages that came by HTTPS.
  button.hidden = navigator.clipboard === undefined;
  const label = button.firstChild;
  button.addEventListener('click', async () => {
    const done = await navigator.clipboard.writeText(button.previousElementSibling.textContent).then(
      () => 'Copied',
      () => 'Not copied',
    );
    label.data = done;
    document.getElementById('copied').textContent = done;
    setTimeout(() => { label.data = 'Copy'; }, 2000);
  });
}
`;
