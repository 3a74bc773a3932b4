/**
 * Renders the forms with which people act as a repository's maintainer. acts.ts carries out what
 * they send.
 */
import type { App, Installation, Issue, Repository } from '../records.ts';
import type { Html } from './html.ts';
import { html } from './html.ts';

export const POLICY_PATH = '.gitveil.yml';

/** Renders the forms below an issue or a pull request. */
export function threadForms(repository: Repository, issue: Issue, botLogin: string): Html {
  const isOpen = issue.state === 'open';
  return html`<h2>As the maintainer ${repository.owner}</h2>
    <p class="dim">
      The service learns of it within a minute. A comment whose line is <code>@${botLogin} stop</code> stops
      it in this repository; <code>mute</code>, <code>welcome</code> and <code>close all</code> work, too.
    </p>
    <form method="post">
      <label for="text">Text</label>
      <textarea id="text" name="text"></textarea>
      ${button('comment', 'Comment')}
      ${issue.pull && isOpen ? [button('approve', 'Approve'), button('request-changes', 'Request changes')] : ''}
    </form>
    ${
      isOpen
        ? html`<form method="post">
            ${issue.pull ? button('merge', 'Merge') : ''} ${button('close', 'Close')}
          </form>`
        : ''
    }
    <form method="post">
      <fieldset>
        <legend>Labels</legend>
        ${repository.labels.map((label) => labelBox(label, issue.labels.includes(label)))}
      </fieldset>
      ${button('label', 'Set labels')}
    </form>`;
}

/** Renders the form below a repository. */
export function policyForm(repository: Repository, text: string): Html {
  return html`<h2>As the maintainer ${repository.owner}</h2>
    <form method="post">
      <label for="text">${POLICY_PATH}</label>
      <textarea id="text" name="text" aria-describedby="policy-note" spellcheck="false">${text}</textarea>
      <p id="policy-note" class="dim">
        It says what the repository accepts from the service, which reads it again after at most five minutes.
        Without text, the file is deleted.
      </p>
      ${button('policy', 'Commit')}
    </form>`;
}

/** Renders the form with which a maintainer invites the App, or asks it to leave. */
export function appForm(app: App, installation: Installation | undefined): Html {
  const isSuspended = installation !== undefined && installation.suspendedAt !== null;
  const state =
    installation === undefined ? 'is not installed here' : isSuspended ? 'is suspended' : 'is installed';
  const buttons =
    installation === undefined
      ? [button('install-app', 'Install')]
      : [
          isSuspended ? button('resume-app', 'Unsuspend') : button('suspend-app', 'Suspend'),
          button('remove-app', 'Uninstall'),
        ];
  return html`<h2>The App</h2>
    <form method="post">
      <p class="dim">
        <code>${app.slug}</code> ${state}. Where it is installed, the service writes in its name after at most
        five minutes, and learns at once what happens.
      </p>
      ${buttons}
    </form>`;
}

/** Renders the form on the front page. */
export function limitsForm(): Html {
  return html`<h2>Limits of the service</h2>
    <form method="post">
      <p class="dim">
        A client may open five pull requests an hour, also on this machine. This button restarts the service,
        which then forgets the counts of its clients. A push that is running breaks off: push it again.
      </p>
      ${button('forget-limits', 'Forget the limits of this machine')}
    </form>`;
}

function button(act: string, text: string): Html {
  return html`<button name="act" value="${act}">${text}</button>`;
}

function labelBox(label: string, isSet: boolean): Html {
  const checked = isSet ? html` checked` : '';
  return html`<label><input type="checkbox" name="label" value="${label}" ${checked} /> ${label}</label> `;
}
