/** What the service protects and what it does not; README.md says the same. */
import { html } from 'hono/html';
import type { Html } from './layout.ts';

/** @param beside an additional column. */
export function promises(beside: Html | null = null): Html {
  return html`<div class="columns">
    <section class="card" aria-labelledby="removed">
      <h2 id="removed">What it removes</h2>
      <ul>
        <li>Your name, e-mail address and dates in every new commit.</li>
        <li>Signatures, and almost every other commit header.</li>
        <li>The ids of your commits. They get new ones.</li>
        <li>Your network address. The code host sees this service's address.</li>
      </ul>
    </section>
    <section class="card" aria-labelledby="visible">
      <h2 id="visible">What everyone still sees</h2>
      <ul>
        <li>What you commit: the files and their names.</li>
        <li>Your commit messages, including sign-offs and your style.</li>
        <li>When you push, and which pushes belong together.</li>
      </ul>
      <p class="small soft">
        This service sees your address while you are connected. If you do not trust its operator, use Tor.
      </p>
    </section>
    ${beside}
  </div>`;
}
