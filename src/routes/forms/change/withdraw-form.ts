/** Withdraws a pull request with a form; a push can do the same. */
import type { Context } from 'hono';
import type { AppEnv } from '../../../env.ts';
import type { RepositoryName } from '../../../repository-name.ts';
import { withdrawnPage, withdrawPage } from '../../../pages/forms/pull-request-pages.ts';
import { PR_HASH_PATTERN } from '../../../pr-hash.ts';
import { explanationOf } from '../../request/refused.ts';
import { answerForm, frameOf, placeOf } from '../form-answer.ts';
import { receiveForm, type SentForm } from '../form-request.ts';
import { WITHDRAW_FORM } from '../paths.ts';
import { refusalOf, refusedPush } from './open-change.ts';
import { withdrawInMemory } from './push-in-memory.ts';

const MAX_FORM_BYTES = 4 * 1024;
const NO_KEY = 'Give the key of the pull request: it was shown when the pull request was opened.';

export async function showWithdrawal(c: Context<AppEnv>, target: RepositoryName): Promise<Response> {
  const prHash = (c.req.query('pr_hash') ?? '').trim().toLowerCase();
  return answerForm(c, withdrawPage(await formOf(c, target, { prHash, prKey: '' })));
}

export async function sendWithdrawal(c: Context<AppEnv>, target: RepositoryName): Promise<Response> {
  const { action: path } = placeOf(c, target, WITHDRAW_FORM);
  return receiveForm(c, path, { maxBytes: MAX_FORM_BYTES }, (sent) => answerWithdrawal(c, target, sent));
}

async function answerWithdrawal(
  c: Context<AppEnv>,
  target: RepositoryName,
  sent: SentForm,
): Promise<Response> {
  const value = (name: string): string => (sent.fields.get(name) ?? '').trim().toLowerCase();
  const [prHash, prKey] = [value('pr_hash'), value('pr_key')];
  const form = await formOf(c, target, { prHash, prKey });
  if (sent.token === null) return answerForm(c, withdrawPage({ ...form, problem: sent.problem }), 403);
  if (!PR_HASH_PATTERN.test(prHash)) {
    const problem = 'A hash has 8 to 40 hexadecimal characters.';
    return answerForm(c, withdrawPage({ ...form, problem }), 400);
  }
  if (prKey === '') return answerForm(c, withdrawPage({ ...form, problem: NO_KEY }), 400);
  const { outcome } = await withdrawInMemory(c, target, [`pr-hash=${prHash}`, `pr-key=${prKey}`]);
  if (outcome.kind === 'withdrawn') return answerForm(c, withdrawnPage(form, outcome.withdrawn));
  const refusal = refusedPush(refusalOf(outcome));
  return answerForm(c, withdrawPage({ ...form, problem: explanationOf(refusal) }), refusal.status);
}

async function formOf(
  c: Context<AppEnv>,
  target: RepositoryName,
  fields: { readonly prHash: string; readonly prKey: string },
) {
  return { ...(await frameOf(c, target, WITHDRAW_FORM)), ...fields };
}
