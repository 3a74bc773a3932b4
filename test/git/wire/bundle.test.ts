/** The header of a bundle, as gitformat-bundle describes it, and what is none. */
import { describe, expect, it } from 'vitest';
import { ByteReader, sourceOf } from '../../../src/git/wire/byte-reader.ts';
import { readBundle } from '../../../src/git/wire/bundle.ts';
import { CHUNKINGS, readerOf, readerOfWhole, restOf } from '../../support/byte-chunks.ts';

const A = 'a'.repeat(40);
const B = 'b'.repeat(40);
const ZERO = '0'.repeat(40);

describe.each(CHUNKINGS)('a bundle in %s chunks', (_, cut) => {
  it.each([
    ['version 2', `# v2 git bundle\n-${A} Title of the parent\n${B} refs/heads/topic\n\n`],
    ['version 3', `# v3 git bundle\n@object-format=sha1\n-${A}\n${B} refs/heads/topic\n\n`],
  ])('of %s is read up to the first byte of its pack', async (_version, header) => {
    const reader = readerOf(cut(Buffer.from(`${header}PACK...`)));
    expect(await readBundle(reader, ['preview'])).toEqual({
      kind: 'push',
      commandList: [{ oldId: ZERO, newId: B, refName: 'refs/heads/topic' }],
      capabilities: new Set(),
      pushOptions: ['preview'],
    });
    expect((await restOf(reader)).toString()).toBe('PACK...');
  });
});

const refsOf = async (...lines: string[]) => {
  const request = await readBundle(readerOfWhole(`# v2 git bundle\n${lines.join('\n')}\n\nPACK`), []);
  return request.kind === 'push' ? request.commandList.map(({ refName }) => refName) : request;
};

describe('the refs of a bundle', () => {
  it('are all of them, in their order', async () => {
    expect(await refsOf(`${A} refs/tags/v1`, `${B} refs/heads/one`)).toEqual([
      'refs/tags/v1',
      'refs/heads/one',
    ]);
  });

  it('have a branch where there is only HEAD', async () => {
    expect(await refsOf(`${A} HEAD`)).toEqual(['refs/heads/HEAD']);
  });

  it('leave HEAD out where a branch stands there, and name it last where it stands elsewhere', async () => {
    expect(await refsOf(`${A} HEAD`, `${A} refs/heads/one`)).toEqual(['refs/heads/one']);
    expect(await refsOf(`${B} HEAD`, `${A} refs/heads/one`)).toEqual(['refs/heads/one', 'refs/heads/HEAD']);
  });
});

describe('what is refused', () => {
  it.each([
    ['nothing', '', 'This is no bundle.'],
    ['a pack', 'PACK', 'This is no bundle.'],
    ['a patch', `From ${A} Mon Sep 17 00:00:00 2001\n`, 'This is a patch. Send it to /patch'],
    ['what curl -d sends', `# v2 git bundle${A} refs/heads/xPACK\n`, '--data-binary in place of -d'],
    ['what curl -F sends', '--------------------------0123\r\n', '--data-binary in place of -F'],
    ['a bundle of a later version', '# v4 git bundle\n', 'This is no bundle.'],
    ['a header that ends', `# v2 git bundle\n${A} refs/heads/x\n`, 'The bundle ends in its header.'],
    ['no ref', `# v2 git bundle\n-${A}\n\nPACK`, 'The bundle has no ref.'],
    ['a short id', '# v2 git bundle\nabc refs/heads/x\n\n', 'malformed ref'],
    ['a prerequisite that is no id', '# v2 git bundle\n-abc\n\n', 'malformed prerequisite'],
    ['SHA-256', '# v3 git bundle\n@object-format=sha256\n', 'SHA-256'],
    ['a filter', '# v3 git bundle\n@filter=blob:none\n', 'without --filter'],
    ['an unknown capability', '# v3 git bundle\n@later\n', 'does not know'],
    ['too many refs', `# v2 git bundle\n${`${A} refs/heads/x\n`.repeat(1_001)}\n`, 'more than 1000 refs'],
    ['too many prerequisites', `# v2 git bundle\n${`-${A}\n`.repeat(100_001)}\n`, 'too many prerequisites'],
    ['too many capabilities', `# v3 git bundle\n${'@object-format=sha1\n'.repeat(17)}\n`, 'malformed ref'],
  ])('%s', async (_, text, message) => {
    const request = await readBundle(readerOfWhole(text), []);
    const fault = { name: 'ProtocolError', publicMessage: expect.stringContaining(message) };
    expect(request).toMatchObject({ kind: 'faulty', fault });
  });

  it('keeps its options, by which limits judge it', async () => {
    const request = await readBundle(readerOfWhole('nothing\n'), ['pr-hash=0123456789ab']);
    expect(request).toMatchObject({ kind: 'faulty', pushOptions: ['pr-hash=0123456789ab'] });
  });

  it('keeps little of long lines', async () => {
    const [long] = (await refsOf(
      `-${A} ${'x'.repeat(100_000)}`,
      `${A} refs/heads/${'x'.repeat(100_000)}`,
    )) as string[];
    expect(long?.length).toBeLessThan(2_048);
  });

  it('is no withdrawal, which needs no bundle', async () => {
    expect(await readBundle(new ByteReader(sourceOf()), ['withdraw'])).toMatchObject({
      kind: 'push',
      commandList: [],
    });
  });
});
