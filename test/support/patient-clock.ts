/** A clock that does not wait: sleeping only sets it forward. */
import type { Clock } from '../../src/clock.ts';

export class PatientClock implements Clock {
  at = Date.parse('2026-11-22T12:00:00Z');

  now(): number {
    return this.at;
  }

  async sleep(ms: number): Promise<void> {
    this.at += ms;
  }
}
