/** What has become of a change: its pull request, and how to withdraw it. */
import { html } from 'hono/html';
import { farewell, type Withdrawn } from '../../push/reply/banner.ts';
import NEXT_HTML from '../fragments/next.html';
import { filled, type Html, type Page } from '../layout.ts';
import { type SameChange, sameNotice } from './change-pages.ts';
import {
  type FormFrame,
  formPage,
  hidden,
  keyField,
  problemNotice,
  type PullRequestKey,
  safeUrl,
  shownValue,
  stepButtons,
  textField,
} from './parts.ts';

/** What leads back to a pull request, and what changes it. */
interface Kept {
  readonly prHash: string;
  /** Null: it was not given, so it is not shown. */
  readonly key: string | null;
}

function keepCard({ prHash, key }: Kept, why: string, ways: Html | '' = ''): Html {
  return html`<section class="card" aria-labelledby="keep">
    <h2 id="keep">Keep ${key === null ? 'its hash' : 'its hash and its key'}</h2>
    <p>${why}</p>
    ${shownValue('hash', 'Hash', prHash)} ${key === null ? '' : shownValue('key', 'Key', key)} ${ways}
  </section>`;
}

export interface OpenedChange extends Kept, SameChange {
  readonly isUpdate: boolean;
  readonly prUrl: string;
  readonly subscribeUrl: string;
  /** Of the service. */
  readonly page: string;
  readonly edit: string;
  readonly withdrawal: string;
  /** Warnings and the like. */
  readonly lines: readonly string[];
}

export function changeDonePage(frame: Pick<FormFrame, 'repository' | 'home'>, opened: OpenedChange): Page {
  const { isUpdate, prUrl, subscribeUrl, page, edit, withdrawal } = opened;
  const lines = opened.lines.join('\n').trim();
  return formPage(
    isUpdate ? 'Your pull request is updated' : 'Your pull request is open',
    frame,
    html`<a href="${safeUrl(prUrl)}">${prUrl}</a>`,
    html`${sameNotice(opened, 'and withdraw this one')}
    ${keepCard(
      opened,
      'With the hash, everybody can update the pull request: it is part of the branch’s name. Only with the key can you withdraw it, or change its title and description. Keep the key to yourself.',
    )}
    ${filled(NEXT_HTML, { edit, page, topic: safeUrl(subscribeUrl), withdrawal })}
    ${lines === '' ? '' : html`<pre class="text">${lines}</pre>`}`,
  );
}

/** @param sentence why and until when. @param page of the delayed push. */
export function changeDelayedPage(
  frame: Pick<FormFrame, 'repository' | 'home'>,
  sentence: string,
  page: string,
): Page {
  return formPage(
    'Your change waits',
    frame,
    html`${sentence}`,
    html`<section class="card">
      <p>
        Keep this address secret, and do not lose it: nobody can look it up for you. There you can publish the
        change now, or give it up. Once it is published, the page shows the pull request and its key.
      </p>
      <p><a href="${page}" class="mono">${page}</a></p>
    </section>`,
  );
}

export function withdrawPage(form: FormFrame & PullRequestKey): Page {
  const { action, token, prHash } = form;
  return formPage(
    'Withdraw a pull request',
    form,
    html`The pull request is closed, and its branch is removed if it had one. What was public may have been
    copied.`,
    html`${problemNotice(form.problem)}
      <form method="post" action="${action}" class="card">
        ${hidden({ token })}
        ${textField({ name: 'pr_hash', label: 'Hash of the pull request', value: prHash, maxLength: 40 })}
        ${keyField(form, null, false)} ${stepButtons({ step: 'withdraw', label: 'Withdraw it' })}
      </form>`,
  );
}

const HEADINGS: Readonly<Record<Withdrawn['kind'], string>> = {
  closed: 'Your pull request is withdrawn',
  merged: 'It was already merged',
  gone: 'Your pull request is gone',
  open: 'Your pull request is still open',
};

export function withdrawnPage(frame: Pick<FormFrame, 'repository' | 'home'>, withdrawn: Withdrawn): Page {
  const url = withdrawn.prUrl;
  return formPage(
    HEADINGS[withdrawn.kind],
    frame,
    html`<a href="${safeUrl(url)}">${url}</a>`,
    html`<p>${farewell(withdrawn).join(' ')}</p>`,
  );
}
