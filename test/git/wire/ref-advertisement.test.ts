/** Discovery for a push, byte for byte. */
import { describe, expect, it } from 'vitest';
import { encodeReceivePackAdvertisement } from '../../../src/git/wire/ref-advertisement.ts';
import { oidNumber } from '../../support/objects.ts';
import { readPkts } from '../../support/pkt-line.ts';

/** The contract's list (4.5), and no other capability. */
const CAPABILITIES = 'report-status delete-refs side-band-64k quiet ofs-delta push-options';
const MAIN = { name: 'refs/heads/main', oid: oidNumber(1) };
const TAG = { name: 'refs/tags/v1', oid: oidNumber(2) };

const linesOf = (advertisement: Uint8Array) =>
  readPkts(advertisement).map((packet) => packet?.toString() ?? null);

describe('encodeReceivePackAdvertisement', () => {
  it('begins with the service and a flush, and tells the capabilities with the first ref', () => {
    expect(linesOf(encodeReceivePackAdvertisement([MAIN, TAG], []))).toEqual([
      '# service=git-receive-pack\n',
      null,
      `${MAIN.oid} refs/heads/main\0${CAPABILITIES}\n`,
      `${TAG.oid} refs/tags/v1\n`,
      null,
    ]);
  });

  it('lists further commits as .have lines behind the refs, those that are tips left out', () => {
    const haves = [MAIN.oid, oidNumber(3), oidNumber(4)];
    expect(linesOf(encodeReceivePackAdvertisement([MAIN], haves)).slice(3)).toEqual([
      `${oidNumber(3)} .have\n`,
      `${oidNumber(4)} .have\n`,
      null,
    ]);
  });

  it('tells the capabilities of an empty repository with the zero id', () => {
    expect(linesOf(encodeReceivePackAdvertisement([], []))).toEqual([
      '# service=git-receive-pack\n',
      null,
      `${'0'.repeat(40)} capabilities^{}\0${CAPABILITIES}\n`,
      null,
    ]);
  });

  it('keeps ref names in their UTF-8', () => {
    const [, , line] = linesOf(encodeReceivePackAdvertisement([{ ...MAIN, name: 'refs/heads/größe' }], []));
    expect(line).toContain('refs/heads/größe\0');
  });

  it('follows the format over thousands of refs with names of any length', () => {
    const refs = Array.from({ length: 5000 }, (_, i) => ({
      name: `refs/heads/${'ü'.repeat(i % 300)}${i}`,
      oid: oidNumber(i + 1),
    }));
    const lines = linesOf(encodeReceivePackAdvertisement(refs, [])).slice(3, -1);
    expect(lines).toEqual(refs.slice(1).map(({ oid, name }) => `${oid} ${name}\n`));
  });
});
