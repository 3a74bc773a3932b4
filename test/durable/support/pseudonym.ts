/**
 * One identity in a test: a hash of its own, comments on one thread, reports, and alarms that the
 * test runs.
 */
import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import type { CommentOutcome, CommentRequest } from '../../../src/durable/identity/comment-request.ts';
import type { Env } from '../../../src/env.ts';
import { writeClaim } from '../../../src/limits/claim.ts';
import type { Standing } from '../../../src/durable/identity/moderation.ts';

const { IDENTITIES } = env as unknown as Env;

export const ORIGIN = 'https://veil.test';
export const THREAD = 'octo/hello/issues/1';

let lastHash = 0xab00_0000;

export class Pseudonym {
  readonly hash = (++lastHash).toString(16);

  get stub(): Env['IDENTITIES'] extends { get(id: never): infer Stub } ? Stub : never {
    return IDENTITIES.get(IDENTITIES.idFromName(this.hash));
  }

  say(body = 'Hello', more: Partial<CommentRequest> = {}): Promise<CommentOutcome> {
    return this.stub.comment({
      id: crypto.randomUUID(),
      host: 'gh',
      owner: 'octo',
      repo: 'hello',
      number: 1,
      body,
      origin: ORIGIN,
      claim: writeClaim(this.hash),
      ...more,
    });
  }

  report(reporter: string, prefix = reporter): Promise<Standing> {
    return this.stub.report(reporter, prefix);
  }

  /** Reports by so many others; answers where the pseudonym stands then. */
  async reportedBy(count: number, name = 'reporter'): Promise<Standing> {
    for (let index = 0; index < count; index++) await this.report(`${name} ${index}`);
    return (await this.stub.publicRecord()).standing;
  }

  nextAlarm(): Promise<number | null> {
    return runInDurableObject(this.stub, (_, state) => state.storage.getAlarm());
  }

  /** Runs the alarm, whenever it is due. */
  async runAlarm(): Promise<void> {
    await runDurableObjectAlarm(this.stub);
  }

  /** Runs the alarm for as long as something is due now. */
  async runDueAlarms(): Promise<void> {
    for (let at = await this.nextAlarm(); at !== null && at <= Date.now(); at = await this.nextAlarm()) {
      await this.runAlarm();
    }
  }

  /** The text under a comment. */
  footer(karma: number, origin = ORIGIN): string {
    const link = `${origin}/v1/moderation/report?hash=${this.hash}`;
    return `\n\n---\nanon-${this.hash} · karma (${karma}) · [report](${link})`;
  }
}
