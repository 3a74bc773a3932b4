/**
 * The configuration of an isolate, read once from its environment, and HTTP clients made by it.
 * Proved by test/routes/service/health.test.ts.
 */
import { type Config, type ConfigResult, parseConfig } from './config.ts';
import type { Env } from '../env.ts';
import { loggerOf } from '../log.ts';
import { HttpClient } from '../outgoing/http-client.ts';

const results = new WeakMap<Env, ConfigResult>();

/** Reads the configuration on the first call, and logs its problems or warnings then. */
export function configOf(env: Env): ConfigResult {
  const known = results.get(env);
  if (known) return known;
  const result = parseConfig({ ...env });
  results.set(env, result);
  if (result.kind === 'invalid') {
    const logger = loggerOf({ logFormat: 'json' });
    for (const { variable } of result.problems) logger.error('configuration is invalid', { variable });
  } else if (env.ONE_MACHINE === undefined) {
    // On one machine, `npm start` prints the warnings as whole sentences.
    const logger = loggerOf(result.config);
    for (const { variable } of result.warnings) logger.warn('configuration is incomplete', { variable });
  }
  return result;
}

/** Opens a client for one request or one object: a connection cannot outlive what opened it. */
export function openHttp({ outgoingFetchHosts }: Config): HttpClient {
  return new HttpClient(outgoingFetchHosts);
}
