/** One pseudonym on a thread, by its identity hash (contract, 2.2 and 3.1). */
import { DurableObject } from 'cloudflare:workers';
import type { Env } from '../env.ts';

export class Identity extends DurableObject<Env> {}
