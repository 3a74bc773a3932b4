/**
 * Serves GET /.well-known/gitveil-signing-key, with which Git verifies the commits that this
 * service has signed.
 * Proved by test/routes/service/signing-key.test.ts.
 */
import { type Context, Hono } from 'hono';
import type { AppEnv } from '../../env.ts';
import { answer, as, described, error, TEXT } from '../description.ts';
import { answerRefused, refused } from '../request/refused.ts';

const NO_KEY = refused(404, 'this service does not sign commits');

export const signingKey = new Hono<AppEnv>();

signingKey.get(
  '/.well-known/gitveil-signing-key',
  described(showKey, {
    operationId: 'showSigningKey',
    summary: 'The key that signs the commits',
    description:
      'One line for the file that Git’s `gpg.ssh.allowedSignersFile` names. A good signature says that a commit came through this service, and no more.',
    tag: 'Service',
    responses: {
      200: answer('The name of the service, and its public key.', as(TEXT)),
      404: error('The service signs no commits.', NO_KEY.error),
    },
  }),
);

function showKey(c: Context<AppEnv>): Response | Promise<Response> {
  const { signingKey: key, serviceUrl } = c.var.config;
  if (key === null) return answerRefused(c, NO_KEY);
  return c.text(`${new URL(serviceUrl).hostname} namespaces="git" ${key.publicKey}\n`);
}
