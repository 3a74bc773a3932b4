/**
 * GET /metrics: as JSON (contract, 4.9), or as text for a monitoring system that asks for it.
 *
 * The JSON describes the isolate that answers. The text also contains the counts of the whole service. Cost: none for
 * the JSON, one call of the Tally object and one of the account's for the text.
 */
import { type Context, Hono } from 'hono';
import { accepts } from 'hono/accepts';
import type { AppEnv } from '../../env.ts';
import { durationText } from '../../metrics/duration-text.ts';
import { expose, OPENMETRICS_TYPE, PROMETHEUS_TYPE } from '../../metrics/exposition.ts';
import { accountGauges } from './account-gauges.ts';
import { isolate } from '../../metrics/isolate.ts';
import { allCounts } from '../../metrics/tally.ts';
import type { MetricsAnswer } from '../schemas/metrics.ts';

const JSON_TYPE = 'application/json';
const TEXT = 'text/plain';
const OPENMETRICS = 'application/openmetrics-text';

export const metrics = new Hono<AppEnv>();

metrics.get('/metrics', async (c) => {
  c.header('Cache-Control', 'no-store');
  c.header('Vary', 'Accept');
  const supports = [JSON_TYPE, TEXT, OPENMETRICS];
  const wanted = accepts(c, { header: 'Accept', supports, default: JSON_TYPE });
  return wanted === JSON_TYPE
    ? c.json<MetricsAnswer>(isolateAnswer())
    : textAnswer(c, wanted === OPENMETRICS);
});

function isolateAnswer(): MetricsAnswer {
  const figures = isolate.figures(Date.now());
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

async function textAnswer(c: Context<AppEnv>, isOpenMetrics: boolean): Promise<Response> {
  const [counts, gauges] = await Promise.all([allCounts(), accountGauges(c)]);
  const text = expose(counts, gauges, isolate.figures(Date.now()), { isOpenMetrics });
  return c.body(text, 200, { 'Content-Type': isOpenMetrics ? OPENMETRICS_TYPE : PROMETHEUS_TYPE });
}
