/** report-status: what the client reads from us, and what we read from the host. */
import { describe, expect, it } from 'vitest';
import { decodeEscaped } from '../../../src/git/bytes.ts';
import { encodeReportStatus, readReportStatus } from '../../../src/git/wire/report-status.ts';
import { CHUNKINGS, readerOf, readerOfWhole } from '../../support/byte-chunks.ts';
import { FLUSH, pktText } from '../../support/pkt-line.ts';

describe('encodeReportStatus', () => {
  it('is a pkt-line section of its own with a line for each command', () => {
    const report = encodeReportStatus({
      unpackStatus: 'ok',
      commandStatuses: [
        { refName: 'refs/heads/main', reason: null },
        { refName: 'refs/tags/v1', reason: 'tags are not accepted' },
      ],
    });
    expect(Buffer.from(report).toString()).toBe(
      '000eunpack ok\n0017ok refs/heads/main\n002ang refs/tags/v1 tags are not accepted\n0000',
    );
  });

  it('says why a pack was refused', () => {
    const report = encodeReportStatus({ unpackStatus: 'invalid pack', commandStatuses: [] });
    expect(Buffer.from(report).toString()).toBe('0018unpack invalid pack\n0000');
  });
});

it('a report names a ref byte for byte, whether or not its name is UTF-8', () => {
  for (const name of ['größe', '\u{1f600}', Buffer.from('gr\u00f6\u00dfe \u00ff', 'latin1')]) {
    const bytes = Buffer.from(name);
    const report = encodeReportStatus({
      unpackStatus: 'ok',
      commandStatuses: [{ refName: decodeEscaped(bytes), reason: 'no' }],
    });
    expect(
      Buffer.from(report).indexOf(Buffer.concat([Buffer.from('ng '), bytes, Buffer.from(' no\n')])),
    ).toBe(18);
  }
});

describe.each(CHUNKINGS)('readReportStatus from %s chunks', (_, cut) => {
  it('reads what a real host sends', async () => {
    const section = [
      pktText('unpack ok\n'),
      pktText('ok refs/heads/a\n'),
      pktText('ng refs/heads/b hook declined\n'),
      FLUSH,
    ];
    expect(await readReportStatus(readerOf(cut(Buffer.from(section.join('')))))).toEqual({
      unpackStatus: 'ok',
      commandStatuses: [
        { refName: 'refs/heads/a', reason: null },
        { refName: 'refs/heads/b', reason: 'hook declined' },
      ],
    });
  });
});

describe('readReportStatus', () => {
  it('keeps every word of an unpack error', async () => {
    const section = pktText('unpack index-pack abnormal exit\n') + FLUSH;
    const report = await readReportStatus(readerOfWhole(section));
    expect(report.unpackStatus).toBe('index-pack abnormal exit');
  });

  it('takes lines without their line feed, and an ng without a reason', async () => {
    const section = pktText('unpack ok') + pktText('ng refs/heads/x') + FLUSH;
    expect(await readReportStatus(readerOfWhole(section))).toEqual({
      unpackStatus: 'ok',
      commandStatuses: [{ refName: 'refs/heads/x', reason: 'refused' }],
    });
  });

  it.each([
    ['no unpack line', FLUSH],
    ['a status without an unpack line', pktText('ok refs/heads/main\n') + FLUSH],
    ['a line that is none of the three', pktText('unpack ok\n') + pktText('hello\n') + FLUSH],
    ['no flush', pktText('unpack ok\n')],
    ['a delimiter', `${pktText('unpack ok\n')}0001`],
    ['bare text', 'unpack ok\nok refs/heads/main\n'],
    ['bytes that are not UTF-8', pktText('unpack ok\n') + pktText('ok \u00ff\n') + FLUSH],
  ])('refuses %s', async (_, section) => {
    await expect(readReportStatus(readerOfWhole(section))).rejects.toMatchObject({ code: 'bad-request' });
  });

  it('reads what encodeReportStatus wrote', async () => {
    const report = {
      unpackStatus: 'ok',
      commandStatuses: [
        { refName: 'refs/heads/a', reason: null },
        { refName: 'refs/heads/é', reason: 'one branch per push: push this one separately' },
      ],
    };
    expect(await readReportStatus(readerOfWhole(encodeReportStatus(report)))).toEqual(report);
  });
});
