/**
 * GET /metrics: as JSON (contract, 4.9), or as text for a monitoring system that asks for it.
 *
 * Who has the service key sees live figures: the JSON those of the isolate that answers, the text also the counts of
 * the whole service, which are ten seconds old at most. If there is no key, everybody sees the snapshot
 * (src/metrics/snapshot.ts). Cost: one call of the Tally object, and one of each account's, every ten seconds at most in
 * an isolate; none for the JSON with a key.
 */
import { type Context, Hono } from 'hono';
import { accepts } from 'hono/accepts';
import * as z from 'zod';
import type { AppEnv } from '../../env.ts';
import { durationText } from '../../metrics/duration-text.ts';
import { expose, OPENMETRICS_TYPE, PROMETHEUS_TYPE } from '../../metrics/exposition.ts';
import { Recent } from '../../isolate/recent.ts';
import { accountGauges } from './account-gauges.ts';
import { heldGauges } from './held-gauges.ts';
import { isolate, type IsolateFigures } from '../../metrics/isolate.ts';
import type { Figures } from '../../metrics/snapshot.ts';
import { allCounts, publicFigures } from '../../metrics/tally.ts';
import { answer, as, asJson, described, TEXT } from '../description.ts';

const JSON_TYPE = 'application/json';
const OPENMETRICS = 'application/openmetrics-text';
/** Many scrapers, or one that asks without a pause, must not keep objects busy that pushes need. */
const OLDEST_MS = 10_000;

/** What the objects have answered last. */
const known = new Recent<Pick<Figures, 'counts' | 'gauges'>>({ most: 1, lifeMs: OLDEST_MS });

const MEMORY = z
  .object({
    alloc: z.int().min(0).meta({ description: 'Bytes of the buffers for bodies that are not yet freed.' }),
    total_alloc: z.int().min(0).meta({ description: 'Bytes of all such buffers so far.' }),
    sys: z.int().min(0).meta({ description: 'Bytes that the platform allows an isolate.' }),
    num_gc: z.int().min(0).meta({ description: 'Garbage collections noticed.' }),
  })
  .meta({ description: 'Memory, as far as the service can measure it itself.' });

export const metricsAnswer = z
  .object({
    memory: MEMORY,
    goroutines: z.int().min(0).meta({ description: 'Requests being answered, this one included.' }),
    uptime: z.string().meta({ description: "Since the isolate's first request.", examples: ['4h23m15.2s'] }),
  })
  .meta({
    description:
      'The state of one isolate, of which there may be many: with a key, the one that answers now.',
  });

type MetricsAnswer = z.infer<typeof metricsAnswer>;

export const metrics = new Hono<AppEnv>();

metrics.get(
  '/metrics',
  described(showMetrics, {
    operationId: 'metrics',
    summary: 'Metrics for operators',
    description:
      'JSON describes only one isolate. The text formats of Prometheus and OpenMetrics also contain the counts of the whole service; ask for them with Accept. Where the service requires no key, the answer is a snapshot that changes at most every 15 minutes, without durations and without counts by route. With the key, it is live: what the text contains of the whole service is at most ten seconds old, or new with `Cache-Control: no-cache`.',
    tag: 'Service',
    isKeyed: true,
    responses: { 200: answer('The figures.', asJson(metricsAnswer), as(TEXT, OPENMETRICS)) },
  }),
);

async function showMetrics(c: Context<AppEnv>): Promise<Response> {
  c.header('Cache-Control', 'no-store');
  c.header('Vary', 'Accept');
  const supports = [JSON_TYPE, TEXT, OPENMETRICS];
  const wanted = accepts(c, { header: 'Accept', supports, default: JSON_TYPE });
  const now = Date.now();
  // With a key, the middleware lets nobody in without it.
  const isPublic = c.var.config.serviceApiKey === null;
  const mayBeOld = isPublic || !/\bno-cache\b/i.test(c.req.header('Cache-Control') ?? '');
  const live = () => liveFigures(c, now, mayBeOld);
  if (wanted === JSON_TYPE) {
    const figures = isPublic ? (await publicFigures(now, live)).isolate : isolate.figures(now);
    return c.json<MetricsAnswer>(isolateAnswer(figures));
  }
  const { counts, gauges, isolate: own } = await (isPublic ? publicFigures(now, live) : live());
  const isOpenMetrics = wanted === OPENMETRICS;
  const text = expose(counts, gauges, own, { isOpenMetrics });
  return c.body(text, 200, { 'Content-Type': isOpenMetrics ? OPENMETRICS_TYPE : PROMETHEUS_TYPE });
}

async function liveFigures(c: Context<AppEnv>, now: number, mayBeOld: boolean): Promise<Figures> {
  const own = isolate.figures(now);
  const held = mayBeOld ? known.get('', now) : null;
  if (held !== null) return { ...held, isolate: own };
  const isPublic = c.var.config.serviceApiKey === null;
  const [counts, ofAccounts, ofHeld] = await Promise.all([
    allCounts(),
    accountGauges(c),
    isPublic ? [] : heldGauges(c),
  ]);
  const gauges = [...ofAccounts, ...ofHeld];
  known.set('', { counts, gauges }, now);
  return { counts, gauges, isolate: own };
}

function isolateAnswer(figures: IsolateFigures): MetricsAnswer {
  return {
    memory: {
      alloc: figures.bufferedBytes,
      total_alloc: figures.bufferedBytesEver,
      sys: figures.memoryLimitBytes,
      num_gc: figures.collections,
    },
    // The contract's name for concurrent tasks.
    goroutines: figures.requestsInFlight,
    uptime: durationText(figures.uptimeMs),
  };
}
