/** The address of a remote, opened in a browser. */
import { html } from 'hono/html';
import type { HostConfig } from '../config/hosts.ts';
import { fullName, type RepositoryName } from '../host/repository-name.ts';
import { commandList, commandScript } from './commands.ts';
import { type Links, type Page, maintainersUrl } from './layout.ts';
import { promises } from './promises.ts';

export interface RemotePlace {
  /** Base of all remotes, with a slash at its end. */
  readonly remoteBase: string;
  /** Of this one: `gh/owner/repo`. */
  readonly path: string;
}

export function remotePage(
  repository: RepositoryName,
  { remoteBase, path }: RemotePlace,
  { hosts, ...links }: Pick<Links, 'sourceRepo'> & { readonly hosts: readonly HostConfig[] },
): Page {
  const name = fullName(repository);
  return {
    title: `Contribute to ${name} without an account · gitveil`,
    description: `A Git remote for anonymous contributions to ${name}.`,
    script: commandScript(hosts),
    // Any name has such a page, so search engines would find no end of them.
    isIndexed: false,
    content: html`<main>
      <h1>Contribute to ${name} without an account</h1>
      <p class="lead">
        This is a Git remote. Push a branch to it, and a bot opens the pull request for you. It does not show
        your name, your e-mail address or your dates.
      </p>
      <section class="card" aria-label="Commands">
        ${commandList(remoteBase, path)}
        <p class="soft small after-commands">
          The push prints the address of the pull request and its hash. To update the pull request, push again
          with <code>-o pr-hash=&lt;hash&gt;</code>.
        </p>
      </section>
      ${promises()}
      <p class="soft small">
        You maintain ${name}? <a href="${maintainersUrl(links)}">What maintainers should know</a>: what the
        bot is, what to set for workflows, and how to say no.
      </p>
    </main>`,
  };
}
