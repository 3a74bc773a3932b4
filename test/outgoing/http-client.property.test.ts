/**
 * Whatever a server sends, in whatever pieces: each request ends, with a response or an error of
 * ours, and what the server has sent for one request never answers another one.
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { randomPieces } from '../support/byte-chunks.ts';
import { runs } from '../support/runs.ts';
import { type FakeConnection, FakeServer, OK } from './support/fake-server.ts';
import { bytesOf, headText } from './support/response-text.ts';
import { exhaustive } from '../support/exhaustive.ts';

const answerOf = (body: string): string => `${headText(OK, `Content-Length: ${body.length}`)}${body}`;

/** Pieces of responses, good and bad, so that what they make together comes close to a response. */
const piece = fc.constantFrom(
  `${OK}\r\n`,
  'HTTP/1.0 200 OK\r\n',
  'HTTP/1.1 204 No Content\r\n',
  'HTTP/1.1 304 Not Modified\r\n',
  'HTTP/1.1 100 Continue\r\n\r\n',
  'Content-Length: 5\r\n',
  'Content-Length: 0\r\n',
  'Content-Length: 99\r\n',
  'Content-Length: 5, 5\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Content-Encoding: gzip\r\n',
  'Connection: close\r\n',
  'Location: /elsewhere\r\n',
  ' folded\r\n',
  '\r\n',
  '\n',
  'hello',
  '5\r\nhello\r\n',
  '5;x=y\r\nhello\r\n',
  '0\r\n\r\n',
  '0\r\nX: y\r\n\r\n',
  answerOf('evil'),
);

const script = fc.record({
  pieces: fc.array(piece, { maxLength: 12 }),
  /** Bytes of it that are changed. */
  noise: fc.array(fc.tuple(fc.nat(400), fc.nat(255)), { maxLength: 2 }),
  startsWell: fc.boolean(),
  seed: fc.nat(1000),
  isWhole: fc.boolean(),
  how: fc.constantFrom('end' as const, 'break' as const),
});

describe('a server that sends anything', () => {
  it('gets every request to an end, and answers no other with it', exhaustive, async () => {
    await fc.assert(
      fc.asyncProperty(script, async ({ pieces, noise, startsWell, seed, isWhole, how }) => {
        const bytes = bytesOf(`${startsWell ? `${OK}\r\n` : ''}${pieces.join('')}`);
        for (const [at, byte] of noise) if (at < bytes.length) bytes[at] = byte;
        let hasSentAll: Promise<unknown> = Promise.resolve();
        const sendAll = async (connection: FakeConnection) => {
          await connection.until('\r\n\r\n');
          await connection.send(...(isWhole ? [bytes] : randomPieces(bytes, seed)));
          await connection[how]();
        };
        const server = new FakeServer((connection) => (hasSentAll = sendAll(connection)));
        const client = server.client();
        const first = await client
          .fetch('https://a.test/first', { redirect: 'manual' })
          .then((response) => response.bytes())
          .catch((error: unknown) => error);
        // What went through one of the platform's streams is a copy, which keeps only the name.
        if (!(first instanceof Uint8Array)) expect(first).toMatchObject({ name: 'OutgoingError' });

        // What a server sends just as it is asked again is its answer: nobody can tell.
        await hasSentAll;
        await scheduler.wait(0);
        server.handler = (connection) => connection.answer(answerOf('second'));
        const second = await client.fetch('https://a.test/second');
        expect(await second.text()).toBe('second');
        expect(server.openCount).toBe(1);
      }),
      runs(35),
    );
  });

  it('sends what it means to send, however it frames and cuts it', async () => {
    const body = fc.uint8Array({ maxLength: 3000 });
    await fc.assert(
      fc.asyncProperty(
        body,
        fc.array(fc.nat(2999)),
        fc.constantFrom('length', 'chunked', 'end'),
        fc.nat(1000),
        async (data, cuts, framing, seed) => {
          const ends = [...new Set(cuts.filter((cut) => cut > 0 && cut < data.length)), data.length].toSorted(
            (a, b) => a - b,
          );
          const chunks = ends
            .map((end, index) => data.slice(ends[index - 1] ?? 0, end))
            .filter(({ length }) => length > 0);
          const fields = {
            length: [`Content-Length: ${data.length}`],
            chunked: ['Transfer-Encoding: chunked'],
            end: [],
          };
          const framed =
            framing === 'chunked'
              ? [
                  ...chunks.flatMap((chunk) => [
                    bytesOf(`${chunk.length.toString(16)}\r\n`),
                    chunk,
                    bytesOf('\r\n'),
                  ]),
                  bytesOf('0\r\n\r\n'),
                ]
              : [data];
          const bytes = new Uint8Array(Buffer.concat([bytesOf(headText(OK, ...fields[framing])), ...framed]));
          const server = new FakeServer(async (connection) => {
            await connection.until('\r\n\r\n');
            await connection.send(...randomPieces(bytes, seed));
            if (framing === 'end') await connection.end();
          });
          const response = await server.client().fetch('https://a.test/');
          expect(await response.bytes()).toEqual(data);
        },
      ),
      runs(40),
    );
  });
});
