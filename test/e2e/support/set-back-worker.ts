/** The Worker with its clock set back. */
// Before the Worker: what runs while it is loaded asks for the time, too.
import { SetBackObject } from './set-back-clock.ts';
import * as worker from '../../../src/worker.ts';

export * from '../../../src/worker.ts';
export { default } from '../../../src/worker.ts';

for (const exported of Object.values(worker))
  if (typeof exported === 'function') Object.setPrototypeOf(exported, SetBackObject);
