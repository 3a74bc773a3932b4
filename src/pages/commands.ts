/**
 * Git commands for a repository, and the script that copies them and updates them while the
 * repository's name is typed.
 * Proved by test/routes/pages/front-page.test.ts.
 */
import { html, raw } from 'hono/html';
import type { Config } from '../config/config.ts';
import { type HostConfig, hostNameOf, repositoryPath } from '../config/hosts.ts';
import { parseName } from '../host/kinds.ts';
import type { Policy } from '../policy/policy.ts';
import COMMANDS_TXT from './fragments/commands.txt';
import COPY_TXT from './fragments/copy.txt';
import type { Html } from './layout.ts';

/** The script that shows the buttons for copying, and makes them work. */
export const COPY_SCRIPT = COPY_TXT;

/** Matches `owner/repo`, or `<host>/owner/repo` with the key of a host. */
const TYPED = /^\s*(?:([a-z0-9]+)\/)?([\w.-]+)\/([\w.-]+)\/?\s*$/;
/** Matches the address of any page of a repository, with or without `https://`, or that for SSH. */
const PASTED = /^\s*(?:(?:https?|ssh|git):\/\/)?(?:git@)?([^/\s@]+)[/:]([\w.-]+)\/([\w.-]+)(?:[/?#]\S*)?\s*$/;
/** Matches the address of a remote at this service, or of a page below it. */
const OWN = /^\s*(?:https?:\/\/)?([^/\s]+)\/v1\/([\w.-]+\/[\w.-]+\/[\w.-]+)(?:[/?#]\S*)?\s*$/;

/**
 * Reads what somebody has typed or pasted. Gives `gh/owner/repo`, as paths have it; null if it is
 * no repository.
 * @param ownHost the service's host name.
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

/** Gives the host that is meant if none is named: the first that can be pushed to. */
export function usualHost(hosts: Config['hosts']): HostConfig {
  return hosts.find(({ token }) => token !== null) ?? hosts[0];
}

export const placeholder = (hosts: Config['hosts']): string => `${usualHost(hosts).key}/<owner>/<repo>`;

/** Commands: their titles, and the text before and after the remote's address. */
const COMMANDS = {
  clone: { what: 'Get the code', before: 'git clone ', after: '' },
  push: { what: 'Commit as usual, then push', before: 'git push ', after: ' HEAD:refs/heads/my-change' },
} as const;

/**
 * Gives the push options that a repository asks for, with a blank behind each. What the person has
 * to choose is in angle brackets.
 * @param opens whether the push opens a pull request, whose description says more.
 */
export function askedOptions({ requiresSignOff, requiresAi, requiresIssue }: Policy, opens: boolean): string {
  const options = [
    ...(requiresSignOff ? ['-o sign-off '] : []),
    ...(requiresAi && opens ? ["-o 'ai=<none, assisted or generated>' "] : []),
    ...(requiresIssue && opens ? ["-o 'issue=<number>' "] : []),
  ];
  return options.join('');
}

/** Shows a line that may break behind the slashes of an address, as on a telephone. */
function breakable(line: string): Html {
  const pieces = line
    .split(/(?<=\/)(?=[^/])/)
    .map((piece, at) => (at === 0 ? [piece] : [raw('<wbr>'), piece]));
  return html`${pieces.flat()}`;
}

/**
 * Shows a command with its title, and a button that copies it. The page also needs COPY_SCRIPT,
 * which shows the button, and COPIED.
 */
export function commandBlock(what: string, line: Html | string): Html {
  return html`<div class="command">
    <p class="soft small">${what}</p>
    <div>
      <code>${typeof line === 'string' ? breakable(line) : line}</code>
      <button type="button" class="quiet" data-copy hidden>
        Copy<span class="unseen"> the command: ${what}</span>
      </button>
    </div>
  </div>`;
}

/** Announces to screen readers that a button has copied its command. */
export const COPIED = html`<p class="unseen" role="status" id="copied"></p>`;

/**
 * @param base the beginning of all remotes' addresses, with a slash at its end.
 * @param pushOptions such as `-o sign-off `, each with a blank at its end.
 */
export function commandList(base: string, path: string, pushOptions = ''): Html {
  const remote = html`<span data-remote="${base}">${breakable(base + path)}</span>`;
  const commands = Object.entries(COMMANDS).map(([name, { what, before, after }]) =>
    commandBlock(what, html`${before}${name === 'push' ? pushOptions : ''}${remote}${after}`),
  );
  return html`${commands} ${COPIED}`;
}

/** Lists the same commands for a terminal. */
export function commandText(base: string, path: string): string[] {
  return Object.values(COMMANDS).map(({ before, after }) => `${before}${base}${path}${after}`);
}

/**
 * Makes the script that reads the same texts as `parseRepositoryText` while somebody types, without
 * its check of names, and that copies.
 */
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
