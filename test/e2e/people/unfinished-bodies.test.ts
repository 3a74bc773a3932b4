/** Bodies that never end, as many as anybody likes: they cost little memory, and others go on. */
import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { DEFAULT_CLIENT_IP_HEADER } from '../../../src/limits/client.ts';
import { RawConnection } from '../support/raw-http.ts';
import { expectStillServing, makeSoundPush } from '../support/sound-push.ts';
import { speak } from '../support/speak.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const CLIENTS = 200;
/** As long as a JSON body may be, and some more to come. */
const BYTES = 519_000;

const bed = useOwnTestBed();

/** What the service has held at most since the last call, in MiB. */
function peak(): number {
  const process = `/proc/${bed.service.workerdPid}`;
  const kB = Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`${process}/status`, 'utf8'))?.[1]);
  writeFileSync(`${process}/clear_refs`, '5');
  return kB / 1024;
}

it('are counted: two hundred of them leave room for comments and pushes', exhaustive, async () => {
  const upstream = await bed.createUpstream();
  const path = `/v1/gh/${upstream.fullName}/issues/1/comments/anonymous`;
  const text = `{"body":"${'x'.repeat(BYTES)}`;
  const sound = await makeSoundPush(bed);
  peak();
  const before = peak();
  const connections = await Promise.all(
    Array.from({ length: CLIENTS }, async (_, index) => {
      const connection = await RawConnection.open(bed.service.url);
      connection.sendHead(path, null, {
        [DEFAULT_CLIENT_IP_HEADER]: `2001:db8:${index.toString(16)}::1`,
        'Content-Type': 'application/json',
        'Content-Length': String(text.length + 2),
      });
      connection.send(text);
      return connection;
    }),
  );
  const answer = await speak(bed, bed.person(), '/v1/moderation/appeal', { text: 'Hi' });
  expect(answer.status).toBe(400);
  await expectStillServing(bed, sound);
  expect(peak() - before).toBeLessThan(96);
  for (const connection of connections) connection.vanish();
});
