/** Withdraws a pull request with a form; a push can do the same. */
import type { Context } from 'hono';
import { systemClock } from '../../../clock.ts';
import type { AppEnv } from '../../../env.ts';
import type { RepositoryName } from '../../../host/repository-name.ts';
import { isolateMemory } from '../../../memory-budget.ts';
import { withdrawnPage, withdrawPage } from '../../../pages/forms/change-pages.ts';
import { Refusal } from '../../../push/reply/refusal.ts';
import { PR_HASH_PATTERN } from '../../../push/command/push-options.ts';
import { answerPage } from '../../pages/page.ts';
import { remotePath } from '../../request/remote-path.ts';
import { answerForm, formToken, NOT_KEPT, type SentForm } from '../form-request.ts';
import { WITHDRAW_FORM } from '../paths.ts';
import { frameOf } from './change-page.ts';
import { refusalStatus, refusalText } from './open-change.ts';
import { withdrawInMemory } from './push-in-memory.ts';

const MAX_FORM_BYTES = 4 * 1024;

export async function showWithdrawal(c: Context<AppEnv>, target: RepositoryName): Promise<Response> {
  const prHash = (c.req.query('pr_hash') ?? '').trim().toLowerCase();
  return answerPage(c, withdrawPage(await formOf(c, target, { prHash, prKey: '' })), 200, NOT_KEPT);
}

export async function sendWithdrawal(c: Context<AppEnv>, target: RepositoryName): Promise<Response> {
  const path = remotePath(c.var.host, target) + WITHDRAW_FORM;
  const limits = { path, maxBytes: MAX_FORM_BYTES, memory: isolateMemory.open(systemClock) };
  return answerForm(c, limits, (sent) => answerWithdrawal(c, target, sent));
}

async function answerWithdrawal(
  c: Context<AppEnv>,
  target: RepositoryName,
  sent: SentForm,
): Promise<Response> {
  const value = (name: string): string => (sent.fields.get(name) ?? '').trim().toLowerCase();
  const [prHash, prKey] = [value('pr_hash'), value('pr_key')];
  const form = await formOf(c, target, { prHash, prKey });
  if (sent.token === null)
    return answerPage(c, withdrawPage({ ...form, problem: sent.problem }), 403, NOT_KEPT);
  if (!PR_HASH_PATTERN.test(prHash)) {
    const problem = 'A hash has 8 to 40 hexadecimal characters.';
    return answerPage(c, withdrawPage({ ...form, problem }), 400, NOT_KEPT);
  }
  const options = [`pr-hash=${prHash}`, ...(prKey === '' ? [] : [`pr-key=${prKey}`])];
  const result = await withdrawInMemory(c, target, prHash, options);
  if (result instanceof Refusal) {
    const problem = refusalText(result);
    return answerPage(c, withdrawPage({ ...form, problem }), refusalStatus(result), NOT_KEPT);
  }
  return answerPage(c, withdrawnPage(form, result), 200, NOT_KEPT);
}

async function formOf(
  c: Context<AppEnv>,
  target: RepositoryName,
  fields: { readonly prHash: string; readonly prKey: string },
) {
  const frame = frameOf(c, target, WITHDRAW_FORM);
  const needsKey = c.var.config.prUpdatePolicy === 'key';
  return { ...frame, ...fields, needsKey, token: await formToken(c, frame.action), problem: null };
}
