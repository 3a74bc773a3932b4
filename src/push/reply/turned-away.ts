/**
 * The story of a push that is refused before its pack is read: the service is suspended, or the request is faulty.
 * Every ref that it names gets the same reason.
 */
import type { ByteReader } from '../../git/byte-reader.ts';
import type { FaultyRequest } from '../../git/push-request.ts';
import type { MemoryHold } from '../../memory-budget.ts';
import { drain } from '../../streams.ts';
import { countPush } from './outcome.ts';
import type { Refusal } from './refusal.ts';
import { Reply, type WriteBytes } from './reply.ts';

export class TurnedAway {
  readonly #refusal: Refusal;
  readonly #refNames: readonly string[];
  readonly #reply: Reply;
  /** Where its commands are counted. */
  readonly #memory: Pick<MemoryHold, 'end'>;

  constructor(
    refusal: Refusal,
    { refNames, capabilities }: Pick<FaultyRequest, 'refNames' | 'capabilities'>,
    memory: Pick<MemoryHold, 'end'>,
  ) {
    this.#memory = memory;
    this.#refusal = refusal;
    this.#refNames = refNames;
    this.#reply = new Reply(capabilities);
  }

  /** The client listens only after it has sent everything. */
  async receive(reader: ByteReader): Promise<void> {
    await drain(reader);
  }

  /** False if the client has gone. Never rejects. */
  async conclude(write: WriteBytes): Promise<boolean> {
    const { paragraph, finalLine, unpackStatus } = this.#refusal;
    countPush(this.#refusal, null);
    await this.#reply.open(write);
    await this.#reply.progress(...paragraph);
    const commandStatuses = this.#refNames.map((refName) => ({ refName, reason: finalLine }));
    return this.#reply.finish({ unpackStatus, commandStatuses }, finalLine);
  }

  async end(): Promise<void> {
    this.#memory.end();
  }

  async abandon(): Promise<void> {
    countPush(this.#refusal, null);
    this.#memory.end();
  }
}
