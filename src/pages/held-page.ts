/** The page of a push that is held, or was and has ended without a pull request. */
import { html } from 'hono/html';
import type { HeldView, HoldState } from '../durable/held-pushes/held-push-record.ts';
import { COPIED, COPY_SCRIPT, commandBlock } from './commands.ts';
import { heldSentence, notPublic } from '../push/reply/banner.ts';
import { dotted, type Html, type Page } from './layout.ts';

const STATES: Readonly<Record<HoldState, { readonly tone: string; readonly word: string }>> = {
  held: { tone: 'warn', word: 'Held' },
  failed: { tone: 'bad', word: 'Failed' },
  cancelled: { tone: 'warn', word: 'Cancelled' },
  discarded: { tone: 'bad', word: 'Discarded' },
};

/** How it stands, in sentences. */
function sentences({ state, reason, from, to, said, isUpdate, isBeingPublished }: HeldView): string[] {
  if (state !== 'held') return [...said];
  if (isBeingPublished) return ['It is being published now. Reload this page in a minute.'];
  const tried =
    said.length === 0 ? [] : ['It could not be published yet. The service tries again. The reason:', ...said];
  return [
    heldSentence(reason, { from, to }),
    ...(isUpdate || tried.length > 0 ? [] : notPublic(reason)),
    ...tried,
  ];
}

export function heldPage(held: HeldView): Page {
  const { tone, word } = STATES[held.state];
  return {
    title: `${word} · gitveil`,
    description: 'The state of a held push.',
    // The address holds the hash, which may be all that a change needs.
    isIndexed: false,
    script: COPY_SCRIPT,
    content: html`<main class="narrow">
      <h1>A held push</h1>
      <section class="card" aria-labelledby="standing">
        <h2 id="standing">Status</h2>
        <dl class="facts">
          <dt>State</dt>
          <dd>${dotted(tone, word)}</dd>
          <dt>Hash</dt>
          <dd class="mono">${held.prHash}</dd>
        </dl>
        ${sentences(held).map((sentence) => html`<p>${sentence}</p>`)}
      </section>
      ${held.state === 'held' ? commands(held) : ''}
    </main>`,
  };
}

function commands({ prHash, reason }: HeldView): Html {
  const push = `git push -o pr-hash=${prHash}`;
  return html`<section class="card" aria-labelledby="change">
    <h2 id="change">Change it</h2>
    ${
      reason === 'review'
        ? ''
        : commandBlock('Publish it now: push the same commits, to the same address', `${push} -o delay=0s …`)
    }
    ${commandBlock('Give it up: put your key in place of <key>', `${push} -o withdraw -o pr-key=<key> …`)}
    ${commandBlock('Replace it: push other commits', `${push} …`)} ${COPIED}
  </section>`;
}

/** Of an update of a pull request that has a page, in one sentence after the other. */
export function heldUpdateText(held: HeldView): string {
  const word =
    held.state === 'held' ? 'is held' : `was not published (${STATES[held.state].word.toLowerCase()})`;
  return `An update ${word}. ${sentences(held).join(' ')}`;
}

/** For a terminal. */
export function heldText(held: HeldView): string {
  const lines = [`${STATES[held.state].word}: ${held.prHash}`, '', ...sentences(held)];
  return `${lines.join('\n')}\n`;
}
