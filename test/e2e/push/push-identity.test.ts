/**
 * Traces of its author in a commit, besides its message: all of them are gone, and nothing else is.
 */
import { describe, expect, it } from 'vitest';
import { contribute, expectAccepted } from '../support/contribution.ts';
import { readCommit } from '../support/objects.ts';
import { PERSON_ZONE } from '../support/person.ts';
import { useTestBed } from '../support/test-bed.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useTestBed();

const PGP_SIGNATURE = [
  'gpgsig -----BEGIN PGP SIGNATURE-----',
  ' ',
  ' iHUEABYKAB0WIQTMkYFzZJ0000000000000000000000000000000000000000==',
  ' -----END PGP SIGNATURE-----',
  ' ',
];

describe('a commit', () => {
  it('has the bot’s name, the placeholder address and the time of the push in UTC', async () => {
    const contribution = await contribute(bed);
    const before = Math.floor(Date.now() / 1000);
    await contribution.clone.commit();
    const { commits } = await expectAccepted(bed, contribution, await contribution.clone.push());
    const { author = '', committer } = commits[0] ?? {};
    expect(author).toMatch(/^gitveil-bot <anonymous@gitveil\.invalid> \d+ \+0000$/);
    expect(committer).toBe(author);
    expect(Number(author.split(' ').at(-2))).toBeGreaterThanOrEqual(before);
  });

  it('loses every header that is not needed to read it', async () => {
    const contribution = await contribute(bed);
    const { clone, person } = contribution;
    const tip = await clone.commitObject({
      tree: await clone.tree(),
      parents: [await clone.git('rev-parse', 'HEAD')],
      message: 'Signed twice\n',
      headers: [
        ...PGP_SIGNATURE,
        'gpgsig-sha256 -----BEGIN SSH SIGNATURE-----',
        ' AAAA',
        ' -----END SSH SIGNATURE-----',
        'encoding UTF-8',
        `HG:extra rebase_source:${person.word}`,
        `change-id ${person.word}`,
        ` continued ${person.authorEmail}`,
      ],
    });
    const pushed = await clone.push('origin', `${tip}:refs/heads/topic`);
    const { commits } = await expectAccepted(bed, contribution, pushed, { tip });
    expect(commits[0]?.headers.map(([name]) => name)).toEqual([
      'tree',
      'parent',
      'author',
      'committer',
      'encoding',
    ]);
  });

  it('that merges a tag loses the copy of the tag', exhaustive, async () => {
    const contribution = await contribute(bed);
    const { clone, upstream } = contribution;
    await clone.git('switch', '--quiet', '-c', 'side');
    await clone.commit();
    // Git copies a tag into the merge only if it is signed.
    const { person } = clone;
    const tag = [
      `object ${await clone.git('rev-parse', 'HEAD')}`,
      'type commit\ntag v9',
      `tagger ${person.authorName} <${person.authorEmail}> ${person.nextDate()} ${PERSON_ZONE}`,
      '\nNine\n-----BEGIN PGP SIGNATURE-----\n\nAAAA\n-----END PGP SIGNATURE-----\n',
    ];
    await clone.git(
      'update-ref',
      'refs/tags/v9',
      await clone.writeObject('tag', Buffer.from(tag.join('\n'))),
    );
    await clone.git('switch', '--quiet', 'main');
    await clone.commit();
    await clone.git('merge', '--quiet', '--no-ff', '-m', 'Merge v9', 'v9');
    const merge = await readCommit(clone.path, await clone.git('rev-parse', 'HEAD'));
    expect(merge.headers.map(([name]) => name)).toContain('mergetag');
    const pushed = await clone.push('origin', 'HEAD:refs/heads/topic');
    const { commits } = await expectAccepted(bed, contribution, pushed);
    expect(commits.at(-1)?.headers.map(([name]) => name)).not.toContain('mergetag');
    const [sent] = await bed.host.pushes(upstream);
    expect(sent?.objects.map(({ type }) => type)).not.toContain('tag');
  });

  it.each<[what: string, author: string]>([
    ['no name', '<only.mail@home.example> 1500000007 +0000'],
    ['no address', 'Only Name <> 1500000007 -1130'],
    ['no date', 'No Date <no.date@home.example>'],
    ['a date of many digits', 'Far Future <far@home.example> 99999999999999999999 +0000'],
    [
      'a name in Latin-1',
      Buffer.from('Jörg Müller <joerg@home.example> 1500000007 +1345').toString('latin1'),
    ],
    ['nothing at all', ''],
  ])('whose author line has %s is taken', exhaustive, async (_, author) => {
    const contribution = await contribute(bed);
    const { clone } = contribution;
    const parent = await clone.git('rev-parse', 'HEAD');
    const content = `tree ${await clone.tree()}\nparent ${parent}\nauthor ${author}\ncommitter ${author}\n\nOdd author\n`;
    const tip = await clone.writeObject('commit', Buffer.from(content, 'latin1'));
    const pushed = await clone.push('origin', `${tip}:refs/heads/topic`);
    await expectAccepted(bed, contribution, pushed, { tip });
  });
});
