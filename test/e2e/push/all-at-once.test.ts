/**
 * A push with several faults is told of all of them in one answer, and of the command that passes.
 */
import { expect, it } from 'vitest';
import { exhaustive } from '../../support/exhaustive.ts';
import { contribute, expectAccepted, expectRefused } from '../support/contribution.ts';
import { bannerOf, remoteLines } from '../support/push-output.ts';
import { useTestBed } from '../support/test-bed.ts';

const bed = useTestBed();
const RULES = 'sign_off: required\nai_disclosure: required\nissue: required\nworkflows: false\n';
const WORKFLOW = '.github/workflows/ci.yml';

/** The reasons of a refusal, as they are numbered. */
const reasonsIn = (lines: readonly string[]) =>
  lines.flatMap((line) => /^\d+\. (.*)$/.exec(line)?.slice(1) ?? []);

/** The words of the command that a refusal prints, behind `git push`. */
function commandIn(lines: readonly string[]): string[] {
  const [, words = ''] = /\n {2}git push (.*)\n/.exec(`${lines.join('\n')}\n`) ?? [];
  return [...words.matchAll(/'[^']*'|\S+/g)].map(([word]) => word.replaceAll("'", ''));
}

async function strict() {
  const contribution = await contribute(bed);
  const { upstream, clone } = contribution;
  await upstream.grow({ files: { '.gitveil.yml': RULES } });
  await clone.git('pull', '--quiet', 'origin', 'main');
  return contribution;
}

it('with faults of five kinds names all, and the command that then passes', async () => {
  const contribution = await strict();
  const { upstream, person, clone } = contribution;
  const { owner, name: repo } = upstream;
  const number = bed.sandbox.maintainer.openIssue(owner, repo, 'A bug', 'It crashes.');
  await clone.commit({
    message: `Mend it\n\nBy ${person.authorName}.\n`,
    files: { [WORKFLOW]: 'on: push\n' },
  });
  const options = ['-o', 'drft', '-o', 'base=nowhere'];
  const lines = await expectRefused(
    bed,
    upstream,
    await clone.push(...options, 'origin', 'HEAD:topic'),
    '"drft" is no push option: did you mean draft? Correct it or leave it out',
  );
  expect(reasonsIn(lines)).toEqual([
    '"drft" is no push option: did you mean draft? Correct it or leave it out.',
    `${upstream.fullName} asks for three things (.gitveil.yml):`,
    `${upstream.fullName} has no branch "nowhere". It has "main".`,
    'Your name or address would become public:',
    `${upstream.fullName} takes no changes of workflows: its .gitveil.yml says so.`,
  ]);
  expect(bed.host.forkPath(upstream)).toBeNull();
  const command = commandIn(lines);
  expect(command.join(' ')).toMatch(
    /^-o draft -o sign-off -o ai=<none, assisted or generated> -o issue=<number> -o base=<branch> http\S+ HEAD:refs\/heads\/topic$/,
  );

  await clone.git('rm', '--quiet', WORKFLOW);
  await clone.git('commit', '--quiet', '--amend', '--allow-empty', '--message', 'Mend it');
  await clone.commit({ message: 'Mend more\n' });
  const values = { number: String(number), branch: 'main', 'none, assisted or generated': 'none' };
  const filled = command.map((word) =>
    Object.entries(values).reduce((text, [name, value]) => text.replace(`<${name}>`, value), word),
  );
  const passed = await clone.push(...filled);
  expect(passed.code, passed.stderr).toBe(0);
  expect(bannerOf(passed).prUrl).toContain(upstream.fullName);
});

it('with one wrong option says so before the command', async () => {
  const { upstream, clone } = await contribute(bed);
  await clone.commit({ message: 'Mend it\n' });
  const said = '"drft" is no push option: did you mean draft? Correct it or leave it out';
  const lines = await expectRefused(
    bed,
    upstream,
    await clone.push('-o', 'drft', 'origin', 'HEAD:topic'),
    said,
  );
  expect(lines.slice(0, 4)).toEqual(['', `${said}.`, '', 'Push again with:']);
  expect(bed.host.requestsFor(upstream, 'POST', /\/forks$|receive-pack$|\/pulls$/)).toEqual([]);
});

it('with one fault has the reason and the status of ever, and shows warnings, too', async () => {
  const { upstream, clone } = await strict();
  await clone.commit({ message: 'Mend it\n\nCo-authored-by: Bob Example <bob@example.org>\n' });
  const options = ['-o', 'ai=none', '-o', 'issue=999'];
  const refused = await clone.push(...options, '-o', 'sign-off', 'origin', 'HEAD:topic');
  const lines = await expectRefused(bed, upstream, refused, 'the issue is not open');
  expect(reasonsIn(lines)).toEqual([]);
  expect(lines.join('\n')).toMatch(/#999 does not exist[\s\S]*They name:\n {2}Co-authored-by: Bob/);
});

it('shows a preview of all that would become public, beside all that refuses it', async () => {
  const { upstream, clone } = await strict();
  await clone.commit({ message: 'Mend it\n\nBecause it broke.\n' });
  const refused = await clone.push('-o', 'preview', '-o', 'drft', 'origin', 'HEAD:topic');
  const lines = await expectRefused(bed, upstream, refused, /^"drft" is no push option/);
  expect(lines.join('\n')).toMatch(
    /Once that is mended, it would open a pull request:[\s\S]* {4}Because it broke\./,
  );
  expect(reasonsIn(lines)).toHaveLength(2);
  expect(commandIn(lines)).toContain('preview');
});

it('has a command with the option that was meant, for the commits that were pushed, whatever is checked out', async () => {
  const { upstream, clone } = await contribute(bed);
  await clone.commit({ message: 'Mend it\n' });
  await clone.git('branch', 'mended');
  await clone.commit({ message: 'Not for anybody yet\n' });
  const refused = await clone.push('-o', 'dry-run', '-o', 'drft', 'origin', 'mended:main');
  const lines = await expectRefused(bed, upstream, refused, /^"dry-run" is no push option/);
  const command = commandIn(lines);
  const id = await clone.git('rev-parse', 'mended');
  expect(command.join(' ')).toBe(`-o preview -o draft ${upstream.url} ${id.slice(0, 12)}:refs/heads/main`);
  const shown = remoteLines(await clone.push(...command)).join('\n');
  expect(shown).toContain('This push would open a pull request as a draft:');
  expect(shown).not.toContain('Not for anybody yet');
  expect(bed.host.forkPath(upstream)).toBeNull();
});

it.each([
  ['a delay', 'dealy', '2h'],
  ['an update', 'pr-hsh', '0123456789ab'],
])('asks the host only what a clone asks, if %s may be meant', async (_, name, value) => {
  const { upstream, clone } = await strict();
  await clone.commit({ message: 'Mend it\n' });
  const refused = await clone.push('-o', `${name}=${value}`, 'origin', 'HEAD:topic');
  const lines = await expectRefused(bed, upstream, refused, new RegExp(`^"${name}" is no push option`));
  expect(reasonsIn(lines)).toEqual([]);
  const ofInterface = bed.host.requests.filter(
    ({ path }) => path.includes(`/${upstream.name}`) && !/\/(?:info\/refs|git-upload-pack)/.test(path),
  );
  expect(ofInterface).toEqual([]);
});

it(
  'with as many wrong options as a push takes names the first fourteen, and counts the others',
  exhaustive,
  async () => {
    const { upstream, clone } = await contribute(bed);
    await clone.commit({ message: 'Mend it\n' });
    const options = Array.from({ length: 64 }, (_, at) => ['-o', `description${10 + at}=A`]).flat();
    const refused = await clone.push(...options, 'origin', 'HEAD:topic');
    const lines = await expectRefused(bed, upstream, refused, /^"description10" is no push option/);
    expect(reasonsIn(lines)).toHaveLength(14);
    expect(remoteLines(refused)).toContain('and for 50 more.');
    await expectAccepted(bed, { upstream, clone }, await clone.push('origin', 'HEAD:topic'));
  },
);
