import { describe, expect, it } from 'vitest';
import { Isolate } from '../../src/metrics/isolate.ts';

describe('what an isolate knows of itself', () => {
  it('counts a buffer once while it is used again and again', () => {
    const isolate = new Isolate();
    const [one, other] = [new ArrayBuffer(100), new ArrayBuffer(20)];
    isolate.buffered(one);
    isolate.reusing(one);
    isolate.buffered(one);
    isolate.buffered(other);
    expect(isolate.figures(0)).toMatchObject({ bufferedBytes: 120, bufferedBytesEver: 220 });
    isolate.reusing(other);
    isolate.reusing(other);
    expect(isolate.figures(0)).toMatchObject({ bufferedBytes: 100 });
  });

  it('counts requests until they are answered, and answers that go on behind them', async () => {
    const isolate = new Isolate();
    isolate.requestStarted(1000);
    const { promise, resolve: finish } = Promise.withResolvers<void>();
    const answering = isolate.during(promise);
    isolate.requestEnded();
    expect(isolate.figures(1000).requestsInFlight).toBe(1);
    finish();
    await answering;
    expect(isolate.figures(1000).requestsInFlight).toBe(0);
  });

  it('is as old as its first request', () => {
    const isolate = new Isolate();
    expect(isolate.figures(5000).uptimeMs).toBe(0);
    isolate.requestStarted(5000);
    isolate.requestStarted(7000);
    expect(isolate.figures(9000).uptimeMs).toBe(4000);
  });

  it('counts anew when the clock was set back', () => {
    const isolate = new Isolate();
    isolate.requestStarted(5000);
    expect(isolate.figures(3000).uptimeMs).toBe(0);
    isolate.requestStarted(3000);
    expect(isolate.figures(3500).uptimeMs).toBe(500);
  });
});
