/**
 * What follows from the environment of an isolate: its configuration, read once, and its HTTP
 * client.
 * Proved by test/routes/service/health.test.ts.
 */
import { type Config, type ConfigResult, parseConfig } from './config.ts';
import type { Env } from '../env.ts';
import { loggerOf } from '../log.ts';
import { HttpClient } from '../outgoing/http-client.ts';

const results = new WeakMap<Env, ConfigResult>();

/** Its problems are logged when it is first read. */
export function configOf(env: Env): ConfigResult {
  const known = results.get(env);
  if (known) return known;
  const result = parseConfig({ ...env });
  results.set(env, result);
  if (result.kind === 'invalid') {
    const logger = loggerOf({ logFormat: 'json' });
    for (const { variable } of result.problems) logger.error('configuration is invalid', { variable });
  } else if (env.ONE_MACHINE === undefined) {
    // There, local/runtime/start.ts has said it in whole sentences.
    const logger = loggerOf(result.config);
    for (const { variable } of result.warnings) logger.warn('configuration is incomplete', { variable });
  }
  return result;
}

/** For one request, or for one object: connections do not outlive what has opened them. */
export function openHttp({ outgoingFetchHosts }: Config): HttpClient {
  return new HttpClient(outgoingFetchHosts);
}
