/** The limits of this service, on the page that describes its API. */
import { html } from 'hono/html';
import {
  CONTRACT_LIMITS,
  OPEN_LIMIT_NAMES,
  OPEN_LIMITS,
  type OpenLimits,
  FORKS,
  SITE_PULL_REQUESTS,
} from '../../limits/limits.ts';
import { limitText } from '../../config/values.ts';
import type { Limit } from '../../limits/sliding-window.ts';
import type { Html } from '../layout.ts';

/** What no variable changes: the contract's limits (section 8), and one for many clients of one person. */
const FIXED: readonly (readonly [what: string, limit: Limit])[] = [
  ['new pull requests', CONTRACT_LIMITS.pullRequests],
  ['new pull requests of an IPv6 /48', SITE_PULL_REQUESTS],
  ['repositories that are forked for a push', FORKS],
  ["requests to the operator's endpoints", CONTRACT_LIMITS.admin],
  ['rollbacks', CONTRACT_LIMITS.rollback],
];

export function limitsSection(limits: OpenLimits): Html {
  return html`<section aria-labelledby="group-limits">
    <h2 class="group" id="group-limits">Limits</h2>
    <p class="soft">
      For each client, which is an IPv4 address or an IPv6 network (/64), if nothing else is said. Above a
      limit, the answer is 429 with Retry-After; a push gets its answer as text.
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
          ${FIXED.map(([what, limit]) => row(what, [limit], 'fixed'))}
          ${OPEN_LIMIT_NAMES.map((name) => openRow(name, limits))}
        </tbody>
      </table>
    </div>
  </section>`;
}

function openRow(name: keyof OpenLimits, limits: OpenLimits): Html {
  const { what, countedFor, variable } = OPEN_LIMITS[name];
  return row(countedFor === 'client' ? what : `${what}, for ${countedFor}`, limits[name], variable);
}

function row(what: string, limits: readonly Limit[], variable: string): Html {
  return html`<tr>
    <th scope="row">${what}</th>
    <td>${limitText(limits)}</td>
    <td><code>${variable}</code></td>
  </tr>`;
}
