/** What the operator holds the service by: panic, burst, rollback (contract, 3.2 to 3.4). */
import { DurableObject } from 'cloudflare:workers';
import type { Env } from '../env.ts';

export class Guard extends DurableObject<Env> {
  /** What GET /api/status and the badges show. */
  status(): { panicMode: boolean } {
    return { panicMode: this.ctx.storage.kv.get<boolean>('panic') ?? false };
  }
}
