/** What time it is at a code host: a second clock, beside the service's own, which may be wrong. */
import { Rest, type RestAccess } from './rest/rest.ts';

/** RFC 9110, 5.6.7: the form that a server must send. */
const IMF_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;
/** For whoever asks again by itself. */
const TIMEOUT_MS = 10_000;

/**
 * Reads the second in which an answer was made, in milliseconds since 1970. Null: it does not say,
 * or a cache has kept it since (RFC 9111, 5.1).
 */
export function timeOf(header: (name: string) => string | null): number | null {
  const date = header('date') ?? '';
  const at = IMF_DATE.test(date) && header('age') === null ? Date.parse(date) : Number.NaN;
  return Number.isNaN(at) ? null : at;
}

/**
 * Asks a code host for its time, in the name of the bot's account. An answer that refuses has one,
 * too.
 * @returns as `timeOf`; null also if the host does not answer, or is to be left alone. Never
 * rejects.
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
