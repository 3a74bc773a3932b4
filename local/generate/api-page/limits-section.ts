/** Renders the limits of a service, on the page that describes its API. */
import { html } from 'hono/html';
import {
  FIXED_TRIES,
  FORKS,
  OPEN_LIMITS,
  PULL_REQUESTS,
  ONION_PULL_REQUESTS,
  PREFIX_PULL_REQUESTS,
} from '../../../src/limits/limits.ts';
import { limitText } from '../../../src/config/values.ts';
import type { Limit } from '../../../src/limits/sliding-window.ts';
import type { Html } from '../../../src/pages/layout.ts';

/**
 * Limits that no variable changes: the contract's (section 8), and some for many clients of one
 * person.
 */
const FIXED: readonly (readonly [what: string, limit: Limit])[] = [
  ['new pull requests', PULL_REQUESTS],
  ['new pull requests of an IPv6 /48', PREFIX_PULL_REQUESTS],
  ['new pull requests of an onion service', ONION_PULL_REQUESTS],
  ['repositories that are forked for a push', FORKS],
  ["requests to the operator's endpoints", FIXED_TRIES.admin[0]],
  ['rollbacks', FIXED_TRIES.rollback[0]],
];

export function limitsSection(): Html {
  return html`<section aria-labelledby="group-limits">
    <h2 class="group" id="group-limits">Limits</h2>
    <p class="soft">
      For each client, which is an IPv4 address or an IPv6 network (/64), if nothing else is said. The
      networks of an IPv6 /48 together have four times as much, those of an onion service twenty times. Above
      a limit, the answer is 429 with Retry-After; a push gets its answer as text.
    </p>
    <div class="scroll" tabindex="0" role="region" aria-label="Limits of this service">
      <table>
        <thead>
          <tr>
            <th scope="col">What</th>
            <th scope="col">At most</th>
            <th scope="col">Variable</th>
          </tr>
        </thead>
        <tbody>
          ${FIXED.map(([what, limit]) => row(what, limitText([limit]), 'fixed'))}
          ${Object.values(OPEN_LIMITS).map(openRow)}
        </tbody>
      </table>
    </div>
  </section>`;
}

function openRow({ what, countedFor, variable }: (typeof OPEN_LIMITS)[keyof typeof OPEN_LIMITS]): Html {
  const named = countedFor === null ? what : `${what}, for ${countedFor}`;
  return row(named, `{{${variable}}}`, variable);
}

function row(what: string, most: string, variable: string): Html {
  return html`<tr>
    <th scope="row">${what}</th>
    <td>${most}</td>
    <td><code>${variable}</code></td>
  </tr>`;
}
