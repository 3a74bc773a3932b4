/**
 * The commands for one repository, and the script that copies them, and updates them while its name
 * is typed.
 * Proved by test/routes/pages/front-page.test.ts.
 */
import { html } from 'hono/html';
import type { Config } from '../config/config.ts';
import { type HostConfig, hostNameOf, repositoryPath } from '../config/hosts.ts';
import { parseName } from '../host/kinds.ts';
import COMMANDS_TXT from './fragments/commands.txt';
import COPY_TXT from './fragments/copy.txt';
import type { Html } from './layout.ts';

/** Shows the buttons that copy, and makes them work. */
export const COPY_SCRIPT = COPY_TXT;

/** `owner/repo`, on another host than the usual one `<host>/owner/repo`. */
const TYPED = /^\s*(?:([a-z0-9]+)\/)?([\w.-]+)\/([\w.-]+)\/?\s*$/;
/**
 * Any page of a repository, as people paste its address, with `https://` or without; or its address
 * for SSH.
 */
const PASTED = /^\s*(?:(?:https?|ssh|git):\/\/)?(?:git@)?([^/\s@]+)[/:]([\w.-]+)\/([\w.-]+)(?:[/?#]\S*)?\s*$/;
/** The address of a remote, or of a page below it, at this service. */
const OWN = /^\s*(?:https?:\/\/)?([^/\s]+)\/v1\/([\w.-]+\/[\w.-]+\/[\w.-]+)(?:[/?#]\S*)?\s*$/;

/**
 * What someone has typed, as paths name it: `gh/owner/repo`; null: no repository.
 * @param ownHost the service's.
 */
export function parseRepositoryText(text: string, hosts: Config['hosts'], ownHost: string): string | null {
  const [, own = '', path = ''] = OWN.exec(text) ?? [];
  const [, address = '', ...pasted] = PASTED.exec(text) ?? [];
  const [, key = usualHost(hosts).key, ...typed] =
    TYPED.exec(own.toLowerCase() === ownHost ? path : text) ?? [];
  const pastedFrom = hosts.find((one) => hostNameOf(one) === address.toLowerCase());
  const host = pastedFrom ?? hosts.find((one) => one.key === key);
  const [owner = '', name = ''] = pastedFrom === undefined ? typed : pasted;
  const repository = host === undefined ? null : parseName(host.kind, owner, name);
  return host === undefined || repository === null ? null : repositoryPath(host, repository);
}

/** The one that is meant if nobody names a host: the first that can be pushed to. */
export function usualHost(hosts: Config['hosts']): HostConfig {
  return hosts.find(({ token }) => token !== null) ?? hosts[0];
}

export const placeholder = (hosts: Config['hosts']): string => `${usualHost(hosts).key}/<owner>/<repo>`;

/**
 * The text before and after the remote's address. `what` is the title above it, and part of the
 * button's label.
 */
const COMMANDS = {
  clone: { what: 'Get the code', before: 'git clone ', after: '' },
  push: { what: 'Commit as usual, then push', before: 'git push ', after: ' HEAD:refs/heads/my-change' },
} as const;

/**
 * A command with its title, and a button that copies it, which COPY_SCRIPT shows. The page needs
 * `COPIED`, too.
 */
export function commandBlock(what: string, line: Html | string): Html {
  return html`<div class="command">
    <p class="soft small">${what}</p>
    <div>
      <code>${line}</code>
      <button type="button" class="quiet" data-copy hidden>
        Copy<span class="unseen"> the command: ${what}</span>
      </button>
    </div>
  </div>`;
}

/** Tells those who cannot see the button that it has worked. */
export const COPIED = html`<p class="unseen" role="status" id="copied"></p>`;

/**
 * @param base of all remotes, with a slash at its end.
 * @param pushOptions `-o sign-off `, with a blank at its end.
 */
export function commandList(base: string, path: string, pushOptions = ''): Html {
  const remote = html`<span data-remote="${base}">${base}${path}</span>`;
  const commands = Object.entries(COMMANDS).map(([name, { what, before, after }]) =>
    commandBlock(what, html`${before}${name === 'push' ? pushOptions : ''}${remote}${after}`),
  );
  return html`${commands} ${COPIED}`;
}

/** The same for a terminal. */
export function commandText(base: string, path: string): string[] {
  return Object.values(COMMANDS).map(({ before, after }) => `${before}${base}${path}${after}`);
}

/** The same as `parseRepositoryText`, while somebody types; and the buttons that copy. */
export function commandScript(hosts: Config['hosts']): string {
  const values: Readonly<Record<string, string>> = {
    hosts: JSON.stringify(Object.fromEntries(hosts.map((host) => [hostNameOf(host), host.key]))),
    own: String(OWN),
    pasted: String(PASTED),
    typed: String(TYPED),
    usual: `'${usualHost(hosts).key}'`,
    placeholder: `'${placeholder(hosts)}'`,
  };
  return COMMANDS_TXT.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => values[name] ?? '') + COPY_TXT;
}
