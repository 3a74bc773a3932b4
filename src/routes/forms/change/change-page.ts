/** What the forms of a change have in common: their frame, and the answers when the host or a limit says no. */
import type { Context } from 'hono';
import type { AppEnv } from '../../../env.ts';
import { ProtocolError } from '../../../git/wire/protocol-error.ts';
import { HostError, MovedError } from '../../../host-error.ts';
import type { RepositoryName } from '../../../repository-name.ts';
import { type ChangeFields, type ChangeForm, changeFormPage } from '../../../pages/forms/change-pages.ts';
import type { PushHost } from '../../../push/push-host.ts';
import { pushHost } from '../../git/push-host.ts';
import { refuseTooMany } from '../../request/limits.ts';
import { answerRefused, explained, explanationOf, type Refused } from '../../request/refused.ts';
import { remotePath } from '../../request/remote-path.ts';
import { refuseWithoutBot } from '../../request/write-refusal.ts';
import { answerForm, frameOf } from '../form-answer.ts';
import { CHANGE_FORM } from '../paths.ts';

/** @param token of the form that was sent; null: a new one. */
export async function changeForm(
  c: Context<AppEnv>,
  target: RepositoryName,
  fields: ChangeFields,
  token: string | null = null,
): Promise<ChangeForm> {
  return {
    ...fields,
    ...(await frameOf(c, target, CHANGE_FORM, token)),
    needsKey: c.var.config.prUpdatePolicy === 'key',
  };
}

/** The form once more, with what was typed, and what is wrong with it. */
export function showAgain(
  c: Context<AppEnv>,
  form: ChangeForm,
  refusal: Refused,
): Response | Promise<Response> {
  const page = changeFormPage({ ...form, problem: explanationOf(refusal) });
  return answerForm(c, page, refusal.status, refusal.headers);
}

/** Each reading costs the code host calls, so it counts like a clone. Null: it may begin. */
export async function refuseReading(c: Context<AppEnv>): Promise<Refused | null> {
  return refuseWithoutBot(c) ?? (await refuseTooMany(c, 'discoveries'));
}

const FAULTY_HOST = 'The code host does not answer as expected';

/** Why the host did not show what was asked for. Null: something else went wrong. */
export function hostFailure(c: Context<AppEnv>, error: unknown): Refused | null {
  if (error instanceof HostError) {
    const { code, publicMessage } = error;
    if (code === 'missing') return explained(404, 'No such repository', publicMessage);
    const isBusy = code === 'busy' || code === 'rate-limited';
    return isBusy ? explained(503, 'Not now', publicMessage) : explained(502, FAULTY_HOST, publicMessage);
  }
  if (!(error instanceof ProtocolError)) return null;
  c.var.logger.warn('the code host sent something malformed', { error });
  return explained(502, FAULTY_HOST, `${error.publicMessage} Try again later.`);
}

/**
 * Reads; what fails becomes a page. Continues also if the person leaves, until the memory is given back.
 * @param form that people go on with under a repository's new name.
 */
export async function answerReading(
  c: Context<AppEnv>,
  form: string,
  read: (host: PushHost) => Promise<Response>,
): Promise<Response> {
  const refused = await refuseReading(c);
  if (refused !== null) return answerRefused(c, refused, 'page');
  const host = pushHost(c);
  const reading = answerRead(c, form, () => read(host)).finally(() => host.memory.end());
  c.executionCtx.waitUntil(reading.catch(() => {}));
  return reading;
}

async function answerRead(
  c: Context<AppEnv>,
  form: string,
  read: () => Promise<Response>,
): Promise<Response> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof MovedError) {
      return c.redirect(remotePath(c.var.host, error.to) + form + new URL(c.req.url).search, 302);
    }
    const failed = hostFailure(c, error);
    if (failed === null) throw error;
    return answerRefused(c, failed, 'page');
  }
}
