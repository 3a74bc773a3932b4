/**
 * Act one: the pack is read to its last byte. What comes of it is a value, and nothing has been asked or told anyone.
 * It refuses only what cannot be parsed or kept.
 */
import type { ByteReader } from '../../git/wire/byte-reader.ts';
import type { Memory } from '../../git/memory.ts';
import type { OidTable } from '../../git/objects/oid-table.ts';
import type { KeptObjects } from '../../git/pack/kept-objects.ts';
import { PackReceiver } from '../../git/pack/pack-receiver.ts';
import type { Command } from '../../git/wire/push-request.ts';
import type { Spool } from '../../spool/spool.ts';
import type { TakenCommand } from './commands.ts';
import type { PushOptions } from './push-options.ts';

export interface ReceivedPack {
  /** Commits and tags, each once. */
  readonly kept: KeptObjects;
  /** Everything else as it will leave, one entry behind the other. */
  readonly spool: Spool;
  /** The number of entries in the spool. */
  readonly entryCount: number;
  /** Bases that they name by their ids. */
  readonly namedBases: OidTable;
}

/** Who has sent little takes little. */
const FIRST_BUFFER_BYTES = 16 * 1024;
const MOST_BUFFER_BYTES = 256 * 1024;
/** Room for what a chunk leaves in memory, for each of its bytes: commits are inflated, and each costs something more. */
const ROOM_FOR_COMMITS = 8;

/**
 * @param memory where commits and buffers are counted; they stay counted.
 * @throws ProtocolError, BodyError; HostError `busy`. The rest of the body is then unread.
 */
export async function receivePack(reader: ByteReader, spool: Spool, memory: Memory): Promise<ReceivedPack> {
  const receiver = new PackReceiver(memory);
  let bufferBytes = FIRST_BUFFER_BYTES;
  await memory.makeRoom(bufferBytes);
  memory.use(bufferBytes);
  for (let chunk = await reader.nextChunk(); chunk !== null; chunk = await reader.nextChunk()) {
    const more = Math.min(MOST_BUFFER_BYTES, bufferBytes + chunk.byteLength) - bufferBytes;
    await memory.makeRoom(more + ROOM_FOR_COMMITS * chunk.byteLength);
    memory.use(more);
    bufferBytes += more;
    const passed = receiver.scan(chunk);
    // The room is not needed while more is waited for.
    memory.free(0);
    if (passed.length > 0) await spool.write(passed);
    // Nothing refers to the chunk any more.
    reader.recycle();
  }
  receiver.finish();
  await spool.close();
  const { kept, namedBases, passedCount: entryCount } = receiver;
  return { kept, spool, entryCount, namedBases };
}

/** A push whose last byte has come. */
export interface Received {
  /** The branch that it is taken for. */
  readonly taken: TakenCommand;
  /** Commands of the push, the taken one among them. */
  readonly commandList: readonly Command[];
  readonly options: PushOptions;
  readonly pack: ReceivedPack;
}
