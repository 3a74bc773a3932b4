/**
 * An object that writes rows, and keeps some of them. Its calls: `?write=<beginning>` and
 * `?keep=<beginning>`.
 */
import { DurableObject } from 'cloudflare:workers';
import { keepOnly } from '../../../src/durable/keep-only.ts';

const ROWS = 300;

export class Keeping extends DurableObject {
  write(beginning: string): void {
    for (let row = 0; row < ROWS; row++) this.ctx.storage.kv.put(`${beginning}-${row}`, { row });
  }

  async keep(beginning: string): Promise<number> {
    const kept = [...this.ctx.storage.kv.list({ prefix: beginning })];
    await keepOnly(this.ctx.storage, kept, null);
    return [...this.ctx.storage.kv.list()].length;
  }
}

interface Env {
  readonly KEEPING: DurableObjectNamespace<Keeping>;
}

export default {
  async fetch(request: Request, { KEEPING }: Env): Promise<Response> {
    const object = KEEPING.get(KEEPING.idFromName('one'));
    const [[call, beginning] = ['', '']] = new URL(request.url).searchParams;
    if (call === 'write') await object.write(beginning);
    return Response.json(call === 'keep' ? await object.keep(beginning) : null);
  },
};
