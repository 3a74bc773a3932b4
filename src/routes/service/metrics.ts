/**
 * GET /metrics: as JSON (contract, 4.9) the figures of the isolate that answers.
 *
 * Who sends the service key may also ask for Prometheus' text, with the counts of the whole service. Without a key
 * nobody may: they would show each push, preview and refusal to anybody who asks every second. Cost of the text: one
 * call of the Tally object, one of that of the delayed pushes, and one of each account's.
 */
import { type Context, Hono } from 'hono';
import { accepts } from 'hono/accepts';
import * as z from 'zod';
import type { AppEnv } from '../../env.ts';
import { durationText } from '../../metrics/duration-text.ts';
import { expose, PROMETHEUS_TYPE } from '../../metrics/exposition.ts';
import { allGauges } from './gauges.ts';
import { isolate, type IsolateFigures } from '../../metrics/isolate.ts';
import { allCounts } from '../../metrics/tally.ts';
import { answer, as, asJson, described, TEXT } from '../description.ts';

const JSON_TYPE = 'application/json';

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
  .meta({ description: 'The state of the isolate that answers. There may be many.' });

type MetricsAnswer = z.infer<typeof metricsAnswer>;

export const metrics = new Hono<AppEnv>();

metrics.get(
  '/metrics',
  described(showMetrics, {
    operationId: 'metrics',
    summary: 'Metrics for operators',
    description:
      'JSON describes only one isolate. With the service key, the text format of Prometheus, which Accept asks for, has the counts of the whole service, too.',
    tag: 'Service',
    isKeyed: true,
    responses: { 200: answer('The figures.', asJson(metricsAnswer), as(TEXT)) },
  }),
);

async function showMetrics(c: Context<AppEnv>): Promise<Response> {
  c.header('Cache-Control', 'no-store');
  const own = isolate.figures(Date.now());
  const wanted = accepts(c, { header: 'Accept', supports: [JSON_TYPE, TEXT], default: JSON_TYPE });
  // With a key, the middleware lets nobody in without it.
  if (c.var.config.serviceApiKey === null || wanted === JSON_TYPE) {
    return c.json<MetricsAnswer>(isolateAnswer(own));
  }
  const [counts, gauges] = await Promise.all([allCounts(), allGauges(c)]);
  const text = expose(counts, gauges, own);
  return c.body(text, 200, { 'Content-Type': PROMETHEUS_TYPE });
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
