/**
 * Reads the form with a file up to the file, which is handed on as it comes. A large file that is
 * sent again must be the one that was looked at.
 * Proved by test/e2e/people/file-form.test.ts.
 */
import { createHash } from 'node:crypto';
import { concatBytes, decodeUtf8, latin1 } from '../../../git/bytes.ts';
import type { Memory } from '../../../git/memory.ts';
import { ByteReader, type ChunkSource, sourceOf } from '../../../git/wire/byte-reader.ts';
import { Refusal } from '../../../push/reply/refusal.ts';
import { LimitedSource } from '../../../streams/body.ts';
import { BodyBytes } from '../../../streams/body-bytes.ts';
import { MultipartReader } from '../../../streams/multipart.ts';
import { type FormFields, MAX_FIELDS } from '../../request/form-fields.ts';

/** A file up to this size is in the page of its preview. */
const MOST_HELD = 512 * 1024;
/** Copies of it in memory: in pieces, joined, in Base64, and in the page as a text and as bytes. */
const HELD_COPIES = 6;
const HELD_FIELD_BYTES = Math.ceil(MOST_HELD / 3) * 4;
/** All other fields together. */
const MAX_FIELD_BYTES = 64 * 1024;

const OTHER_FILE = new Refusal('bad-request', 'this is another file', [
  'It is not the one that you have looked at. Look at this one first.',
]);

export interface FileFormBody {
  readonly fields: FormFields;
  /** The file; null: the form has none. */
  readonly file: ChunkSource | null;
}

/**
 * Reads the fields in front of the file. Null: it is malformed.
 * @throws BodyError, HostError `busy`
 */
export async function readFileForm(
  body: ChunkSource,
  boundary: string,
  memory: Memory,
): Promise<FileFormBody | null> {
  const reader = new MultipartReader(body, boundary);
  const fields = new Map<string, string>();
  let left = MAX_FIELD_BYTES;
  for (let count = 0; count < MAX_FIELDS; count++) {
    const part = await reader.next();
    if (part === null) return count === 0 ? null : { fields, file: null };
    const { name, isFile, content } = part;
    if (isFile) return { fields, file: content };
    if (name === 'held') return { fields, file: await heldFile(content, memory) };
    const value = await bytesOf(content, left, memory);
    left -= value.byteLength;
    const text = decodeUtf8(value);
    if (text === null) return null;
    if (!fields.has(name)) fields.set(name, text);
  }
  return null;
}

async function heldFile(content: ChunkSource, memory: Memory): Promise<ChunkSource> {
  const file = Buffer.from(latin1(await bytesOf(content, HELD_FIELD_BYTES, memory)), 'base64');
  return file.byteLength === 0 ? sourceOf() : sourceOf(new Uint8Array(file));
}

/** @throws BodyError `too-large` */
async function bytesOf(content: ChunkSource, mostBytes: number, memory: Memory): Promise<Uint8Array> {
  const reader = new ByteReader(new LimitedSource(content, mostBytes));
  return (await BodyBytes.of(reader, memory, mostBytes)).bytes;
}

/** Watches a file on its way: names it, and keeps a small one for the page. */
export class WatchedFile {
  readonly source: ChunkSource;
  readonly #hash = createHash('sha256');
  #pieces: Uint8Array[] = [];
  #bytes = 0;
  #name: string | null = null;

  /**
   * @param seen the name of the file that was looked at; empty: none was.
   * @param memory where what goes into the page is counted.
   */
  constructor(reader: ByteReader, seen: string, memory: Memory) {
    const claim = memory.claim();
    this.source = {
      read: async () => {
        const chunk = await reader.nextChunk();
        if (chunk === null && seen !== '' && this.name !== seen) throw OTHER_FILE;
        if (chunk === null) return null;
        this.#hash.update(chunk);
        if (seen !== '') return chunk;
        this.#keep(chunk);
        await claim.set(this.#bytes > MOST_HELD ? 0 : HELD_COPIES * this.#bytes);
        return chunk;
      },
      recycle: () => reader.recycle(),
      cancel: () => reader.cancel(),
    };
  }

  /** Names what was read. To be asked at the end, as `held` is. */
  get name(): string {
    return (this.#name ??= this.#hash.digest('hex'));
  }

  /** The file in Base64; null: it is too large. */
  get held(): string | null {
    return this.#bytes > MOST_HELD ? null : Buffer.from(concatBytes(this.#pieces)).toString('base64');
  }

  #keep(chunk: Uint8Array): void {
    this.#bytes += chunk.byteLength;
    if (this.#bytes <= MOST_HELD) this.#pieces.push(chunk.slice());
    else this.#pieces = [];
  }
}
