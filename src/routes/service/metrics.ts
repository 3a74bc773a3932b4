/**
 * Serves GET /metrics: as JSON (contract, 4.9) the figures of the isolate that answers, rounded
 * where everybody may read them; and with the service key also the text of Prometheus for the whole
 * service. That text needs the key, because it would show each push, preview and refusal to anybody
 * who asks every second. It costs a call of the Tally object, the guard, the delayed pushes, and
 * each account.
 */
import { type Context, Hono } from 'hono';
import { accepts } from 'hono/accepts';
import * as z from 'zod';
import { type HostConfig, hostNameOf } from '../../config/hosts.ts';
import { limitText } from '../../config/values.ts';
import { hostAccountOf } from '../../host-access.ts';
import type { AppEnv } from '../../env.ts';
import { durationText, isolate } from '../../metrics/isolate.ts';
import { PublicFigures } from '../../metrics/public-figures.ts';
import { expose, type GaugeValue } from '../../metrics/series.ts';
import { allCounts } from '../../metrics/tally.ts';
import { delayedPushesOf } from '../../objects.ts';
import { answer, as, asJson, countSchema, described, TEXT } from '../description.ts';
import { botProblems, suspensionOf } from '../../service/suspension.ts';

const JSON_TYPE = 'application/json';

const MEMORY = z
  .object({
    alloc: countSchema.describe('Bytes of the buffers for bodies that are not yet freed.'),
    total_alloc: countSchema.describe('Bytes of all such buffers so far.'),
    sys: countSchema.describe('Bytes that the platform allows an isolate.'),
    num_gc: countSchema.describe('Garbage collections noticed.'),
  })
  .describe('Memory, as far as the service can measure it itself.');

export const metricsAnswer = z
  .object({
    memory: MEMORY,
    goroutines: countSchema.describe('Requests being answered, this one included.'),
    uptime: z.string().meta({ description: "Since the isolate's first request.", examples: ['4h23m15.2s'] }),
  })
  .describe('The state of the isolate that answers. There may be many.');

/** The figures where the operator has set no key. */
const forEverybody = new PublicFigures();

export const metrics = new Hono<AppEnv>();

metrics.get(
  '/metrics',
  described(showMetrics, {
    operationId: 'showMetrics',
    summary: 'Metrics for operators',
    description:
      'JSON describes only one isolate. Where the operator has set no key, bytes are rounded up to 16 MiB, requests to tens, and figures move once a minute. With the service key, the text format of Prometheus, which Accept asks for, has the counts of the whole service, too.',
    tag: 'Service',
    isKeyed: true,
    responses: { 200: answer('The figures.', asJson(metricsAnswer), as(TEXT)) },
  }),
);

async function showMetrics(c: Context<AppEnv>): Promise<Response> {
  c.header('Cache-Control', 'no-store');
  const now = Date.now();
  const own = isolate.figures(now);
  const hasKey = c.var.config.serviceApiKey !== null;
  const wanted = accepts(c, { header: 'Accept', supports: [JSON_TYPE, TEXT], default: JSON_TYPE });
  // With a key, the middleware lets nobody in without it.
  if (hasKey && wanted === TEXT) {
    const [counts, gauges] = await Promise.all([allCounts(), allGauges(c)]);
    return c.body(expose(counts, gauges, own), 200, {
      'Content-Type': 'text/plain; version=0.0.4; charset=utf-8',
    });
  }
  const shown = hasKey ? own : forEverybody.of(own, now);
  const { bufferedBytes: alloc, bufferedBytesEver: total_alloc, memoryLimitBytes: sys, collections } = shown;
  return c.json<z.infer<typeof metricsAnswer>>({
    memory: { alloc, total_alloc, sys, num_gc: collections },
    // The contract's name for concurrent tasks.
    goroutines: shown.requestsInFlight,
    uptime: durationText(shown.uptimeMs),
  });
}

type Gauges = readonly GaugeValue[];

/** Reads all gauges, and leaves out those whose object does not answer. */
async function allGauges(c: Context<AppEnv>): Promise<Gauges> {
  const orNone = (step: string, asked: Promise<Gauges>): Promise<Gauges> =>
    asked.catch((error: unknown) => {
      c.var.logger.warn('a gauge could not be read', { step, error });
      return [];
    });
  const ofAccounts = c.var.config.hosts.map((host) => orNone('account', accountGauges(c, host)));
  const others = [orNone('problems', problemGauges(c)), orNone('delayed', delayedGauges(c))];
  return (await Promise.all([...ofAccounts, ...others])).flat();
}

async function accountGauges(c: Context<AppEnv>, config: HostConfig): Promise<Gauges> {
  const limits = c.var.config.limits.creations;
  const { calls, creationsLeft } = await hostAccountOf(c.env, config).figures(limits);
  const host = hostNameOf(config);
  const left = limits.map((limit, index) =>
    gauge('gitveil_host_creations_left', creationsLeft[index] ?? 0, { host, limit: limitText([limit]) }),
  );
  if (calls === null) return left;
  return [
    gauge('gitveil_host_calls_left', calls.left, { host }),
    gauge('gitveil_host_calls_limit', calls.limit, { host }),
    ...left,
  ];
}

async function problemGauges(c: Context<AppEnv>): Promise<Gauges> {
  const problems = botProblems(await suspensionOf(c.env), c.var.config.hosts);
  return problems.map(({ hostName: host, problem }) =>
    gauge('gitveil_bot_account_problem', 1, { host, problem }),
  );
}

async function delayedGauges(c: Context<AppEnv>): Promise<Gauges> {
  const { oldestAt } = await delayedPushesOf(c.env).counts();
  const oldestMs = oldestAt === null ? 0 : Math.max(0, Date.now() - oldestAt);
  return [gauge('gitveil_delayed_oldest_seconds', Math.round(oldestMs / 1000), {})];
}

function gauge(name: GaugeValue['name'], value: number, labels: GaugeValue['labels']): GaugeValue {
  return { name, labels, value };
}
