/**
 * Shows a commit to people who look for traces of its author: both identities with their dates, the
 * message, and the whole stored object.
 */
import type { Commit, Identity } from '../commits.ts';
import type { Html } from './html.ts';
import { html } from './html.ts';
import { link } from './layout.ts';

/** Renders one entry in a list of commits. */
export function commitView(repositoryUrl: string, commit: Commit): Html {
  const [title = '', ...rest] = commit.message.split('\n');
  const body = rest.join('\n').trim();
  return html`<strong>${title}</strong>
    <code>${link(`${repositoryUrl}/commit/${commit.oid}`, commit.oid.slice(0, 10))}</code>
    ${body === '' ? '' : html`<div class="text">${body}</div>`}
    <dl>
      <dt>Author</dt>
      <dd>${identity(commit.author)}</dd>
      <dt>Committer</dt>
      <dd>${identity(commit.committer)}</dd>
      <dt>Signature</dt>
      <dd>${commit.signature === null ? 'none' : 'present'}</dd>
    </dl>
    <details>
      <summary>The commit object as it is stored</summary>
      <pre>${commit.raw}</pre>
    </details>`;
}

function identity({ name, email, time, zone }: Identity): Html {
  const when = new Date(time * 1000).toISOString().replace('T', ' ').replace('.000Z', ' UTC');
  return html`${name} &lt;${email}&gt;, ${when}, zone ${zone}`;
}
