/**
 * Keeps what a request holds of the isolate's memory until it is answered.
 * Proved by test/e2e/people/change-form.test.ts.
 */
import { waitUntil } from 'cloudflare:workers';
import type { MemoryHold } from '../../isolate/memory-budget.ts';

/**
 * Gives back what the request holds when it is answered. If the client leaves before that, it goes
 * on until then.
 */
export async function untilAnswered(memory: MemoryHold, answer: Promise<Response>): Promise<Response> {
  const answering = answer.finally(() => memory.end());
  waitUntil(answering.catch(() => {}));
  return answering;
}
