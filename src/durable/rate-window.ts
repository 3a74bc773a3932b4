/** How often one client has done what is limited, by the hash of its network (contract, section 8). */
import { DurableObject } from 'cloudflare:workers';
import type { Env } from '../env.ts';

export class RateWindow extends DurableObject<Env> {}
