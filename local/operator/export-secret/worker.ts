/**
 * Answers with the secret that a deployed service has created. Runs only under `wrangler dev
 * --remote`, whose address only this machine reaches, and is never deployed: see docs/deploy.md.
 */
import type { ServiceSecret } from '../../../src/durable/service-secret.ts';
import { secretOf } from '../../../src/objects.ts';

interface Env {
  readonly SERVICE_SECRET: DurableObjectNamespace<ServiceSecret>;
}

export default {
  async fetch(_request: Request, env: Env): Promise<Response> {
    const object = secretOf(env);
    if (!(await object.isMade())) return new Response('The service has made no secret.\n', { status: 404 });
    return new Response(`${await object.read()}\n`);
  },
};
