/** What the service protects, and what not, as README.md says it. */
import { html } from 'hono/html';
import type { Html } from './layout.ts';

/** @param beside one more column. */
export function promises(beside: Html | null = null): Html {
  return html`<div class="columns">
    <section class="card" aria-labelledby="removed">
      <h2 id="removed">What it removes</h2>
      <ul>
        <li>Your name, e-mail address and dates, from every new commit.</li>
        <li>Signatures, and whatever else a commit's headers tell.</li>
        <li>The ids of your commits: the push gives them new ones.</li>
        <li>Your network address: the code host sees this service's.</li>
      </ul>
    </section>
    <section class="card" aria-labelledby="visible">
      <h2 id="visible">What everyone still sees</h2>
      <ul>
        <li>What you commit: contents and names of files.</li>
        <li>Your commit messages, sign-offs and style included.</li>
        <li>When you push, and which pushes belong together.</li>
      </ul>
      <p class="small soft">
        This service sees your address while you are connected. Trust its operator, or come through Tor.
      </p>
    </section>
    ${beside}
  </div>`;
}
