/**
 * Asks a code host for the time. It is a second clock, beside the service's own, which may be
 * wrong.
 */
import { Rest, type RestAccess } from './rest/rest.ts';

/** Matches the form of a date that a server must send (RFC 9110, 5.6.7). */
const IMF_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;
/** Maximum time for an answer. Callers ask again by themselves. */
const TIMEOUT_MS = 10_000;

/**
 * Reads the second in which an answer was made, in milliseconds since 1970.
 * @returns null if the answer does not say, or was kept in a cache since (RFC 9111, 5.1).
 */
export function timeOf(header: (name: string) => string | null): number | null {
  const date = header('date') ?? '';
  const at = IMF_DATE.test(date) && header('age') === null ? Date.parse(date) : Number.NaN;
  return Number.isNaN(at) ? null : at;
}

/**
 * Asks a code host for its time, in the name of the bot's account. A refusal tells it, too. Never
 * rejects.
 * @returns as `timeOf`, and null if the host does not answer, or is to be left alone.
 */
export async function askTime(access: RestAccess): Promise<number | null> {
  let at: number | null = null;
  const tokenWatch: RestAccess['tokenWatch'] = {
    observe(answer) {
      at = timeOf(answer.header);
      access.tokenWatch.observe(answer);
    },
  };
  const rest = new Rest({ ...access, tokenWatch }, { isPatient: false, timeoutMs: TIMEOUT_MS });
  await rest.call('GET /user', {}).catch(() => {});
  return at;
}
