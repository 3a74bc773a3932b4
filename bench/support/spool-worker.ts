/**
 * A Worker that writes, reads and discards one spool, as a push does, and hashes as many bytes for
 * comparison.
 */
import { PushSpool as OpenSpool } from '../../src/spool/spool.ts';
import type { RowStore } from '../../src/spool/sealed-rows.ts';
import { MemoryBudget } from '../../src/isolate/memory-budget.ts';
import { systemClock } from '../../src/isolate/clock.ts';

export { Spool } from '../../src/durable/spool/spool.ts';

interface Bindings {
  readonly SPOOL: { getByName(name: string): RowStore };
}

/** As a push reads its body. */
const CHUNK = new Uint8Array(256 * 1024);

let spool: OpenSpool | null = null;
let calls = 0;

function opened(env: Bindings): OpenSpool {
  const open = (): RowStore => {
    calls += 1;
    return env.SPOOL.getByName('spool');
  };
  const memory = new MemoryBudget().open(systemClock);
  return new OpenSpool({ open, memory, client: null, mostBytes: 1e9, clock: systemClock });
}

const WORK: Readonly<Record<string, (env: Bindings, bytes: number) => Promise<void>>> = {
  async write(env, bytes) {
    spool = opened(env);
    for (let left = bytes; left > 0; left -= CHUNK.byteLength) {
      await spool.write([CHUNK.subarray(0, left)]);
    }
    await spool.close();
  },
  async read() {
    let bytes = 0;
    for await (const piece of spool?.read() ?? []) bytes += piece.byteLength;
    if (bytes !== spool?.byteLength) throw new Error('something is missing');
  },
  async discard() {
    await spool?.discard();
  },
  async hash(_, bytes) {
    for (let left = bytes; left > 0; left -= CHUNK.byteLength) await crypto.subtle.digest('SHA-256', CHUNK);
  },
};

export default {
  async fetch(request: Request, env: Bindings): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    calls = 0;
    await WORK[pathname.slice(1)]?.(env, Number(searchParams.get('bytes')));
    return new Response(String(calls));
  },
};
