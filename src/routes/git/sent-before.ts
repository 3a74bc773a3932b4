/**
 * Recognises a push by its `Idempotency-Key`, so that a program that got no answer sends it again
 * and gets the same one. Key and content decide the names of what it opens, as a form's token does;
 * so nothing is stored.
 * Proved by test/e2e/push/bundle.test.ts.
 */
import type { Context } from 'hono';
import type * as z from 'zod';
import type { AppEnv } from '../../env.ts';
import { pullRequestOf } from '../../objects.ts';
import type { PushRun } from '../../push/push-run.ts';
import { keyLines } from '../../push/reply/banner.ts';
import { prKeyOf } from '../../secret/keyed-hash.ts';
import { serviceSecret } from '../../secret/open-secret.ts';
import type { PushOpening } from '../../service/open-push.ts';
import { mayBeRecorded } from '../../stats/recorded-hashes.ts';
import { formSecrets } from '../request/form-fields.ts';
import type { pushedAnswer } from './door-answer.ts';

/** @param content names everything that was sent. */
export async function namesOf(
  c: Context<AppEnv>,
  key: string,
  content: readonly string[],
): Promise<Required<Pick<PushOpening, 'newPrHash' | 'newDelayedName'>>> {
  const secret = await serviceSecret(c.env, c.var.config.identitySecret);
  const secrets = formSecrets(secret, { text: `Idempotency-Key ${key}` }, [c.req.path, ...content]);
  const hash = secrets('hash').slice(0, 12);
  // The hash needs a letter, as in newPrHash.
  const prHash = /[a-f]/.test(hash) ? hash : `a${hash.slice(1)}`;
  return { newPrHash: () => prHash, newDelayedName: () => secrets('delayed').slice(0, 32) };
}

/** The answer of a push that has opened its pull request before; null: it has not. */
export async function openedBefore(
  c: Context<AppEnv>,
  { settings }: PushRun,
): Promise<z.infer<typeof pushedAnswer> | null> {
  const prHash = settings.newPrHash();
  if (!(await mayBeRecorded(c.env.DB, prHash, c.var.logger))) return null;
  const known = await pullRequestOf(c.env, prHash).view();
  if (known === null) return null;
  const key = prKeyOf(await serviceSecret(c.env, c.var.config.identitySecret), prHash);
  const page = settings.pageUrl(prHash);
  const lines = [
    ...keyLines(prHash, key),
    `You have sent this before. Your pull request is ${known.state}.`,
    `  PR URL:   ${known.url}`,
    `  PR hash:  ${prHash}`,
    `  Page:     ${page}`,
  ];
  return { state: 'opened', pr_url: known.url, pr_hash: prHash, pr_key: key, page, lines, findings: [] };
}
