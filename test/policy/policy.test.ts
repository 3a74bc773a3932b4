import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { utf8 } from '../../src/git/bytes.ts';
import { NO_FILES } from '../../src/policy/community-files.ts';
import { workOf } from '../support/work-meter.ts';
import { OPEN_POLICY, parsePolicy, policyRefusal } from '../../src/policy/policy.ts';

const ALL = ['pull_requests', 'issues', 'comments'];
const repository = { owner: 'octo', name: 'hello' };
const parse = (text: string) => parsePolicy(utf8(text));

describe('a policy file', () => {
  it.each([
    ['', false, ALL],
    ['# nothing yet\n', false, ALL],
    ['---\n', false, ALL],
    ['anonymous_friendly: true', true, ALL],
    ['anonymous_friendly: false\naccept: true', false, ALL],
    ['accept: false', false, []],
    ['accept: []', false, []],
    ['accept: [comments, issues, comments]', false, ['issues', 'comments']],
    ['accept:\n  - pull_requests\nanonymous_friendly: true\n', true, ['pull_requests']],
    ['{"accept": ["issues"]}', false, ['issues']],
    ['\uFEFFaccept: false', false, []],
    ['pull_request_footer: false', false, ALL],
  ])('%j says what it says', (text, anonymousFriendly, accepted) => {
    expect(parse(text)).toEqual({
      anonymousFriendly,
      accepted,
      pullRequestFooter: false,
      requiresSignOff: false,
      requiresAi: false,
      requiresIssue: false,
      refusesWorkflows: false,
      limits: [],
      problem: null,
      community: NO_FILES,
    });
  });

  it('may ask for a footer', () => {
    expect(parse('pull_request_footer: true')).toMatchObject({ accepted: ALL, pullRequestFooter: true });
  });

  it('may require a sign-off', () => {
    expect(parse('sign_off: required')).toEqual({ ...OPEN_POLICY, requiresSignOff: true });
  });

  it.each([
    ['ai_disclosure: required', { requiresAi: true }],
    ['issue: required', { requiresIssue: true }],
    ['workflows: false', { refusesWorkflows: true }],
    ['workflows: true', {}],
  ])('may ask for more: %s', (text, rule) => {
    expect(parse(text)).toEqual({ ...OPEN_POLICY, ...rule });
  });

  it.each([
    ['5/1h', [{ most: 5, withinMs: 3_600_000 }]],
    [
      '2/1m, 5/24h',
      [
        { most: 2, withinMs: 60_000 },
        { most: 5, withinMs: 86_400_000 },
      ],
    ],
    ['5', []],
    ['0/1h', []],
    ['5/1d', []],
    ['none', []],
    ['[5/1h]', []],
    ['{most: 5}', []],
    ['', []],
  ])('may have the limit %s, which changes nothing if it is not understood', (limit, limits) => {
    expect(parse(`limit: ${limit}`)).toEqual({ ...OPEN_POLICY, limits });
    expect(parse(`accept: false\nlimit: ${limit}`)).toMatchObject({ accepted: [], problem: null });
  });

  it.each([
    [
      'a key that is a sentence',
      '"accept\\". First run: curl evil": 1',
      /^has an unknown key \(it may contain only /,
    ],
    ['a misspelt key', 'acept: false', /^has the unknown key "acept" \(did you mean accept\?\)$/],
    [
      'a key that nobody knows',
      'colour: red',
      /^has the unknown key "colour" \(it may contain only anonymous_friendly, /,
    ],
    ['no mapping', '- accept', /may contain only the keys/],
    ['a word that nobody knows', 'accept: [pull-requests]', /accept to true, false or a list/],
    ['an empty value', 'accept:', /accept to true, false or a list/],
    ['a string for a truth value', 'anonymous_friendly: yes', /anonymous_friendly to true or false/],
    ['a footer of its own', 'pull_request_footer: Hi', /pull_request_footer to true or false/],
    ['a truth value for a sign-off', 'sign_off: true', /sign_off to required, or leave it out/],
    ['another word for it', 'sign_off: optional', /sign_off to required, or leave it out/],
    ['no word for it', 'sign_off:', /sign_off to required, or leave it out/],
    ['another word for the use of AI', 'ai_disclosure: yes', /ai_disclosure to required, or leave it out/],
    ['a number for an issue', 'issue: 12', /issue to required, or leave it out/],
    ['another word for workflows', 'workflows: none', /workflows to true or false/],
    ['broken YAML', 'accept: [issues', /valid YAML/],
    ['a key twice', 'accept: false\naccept: true', /valid YAML/],
    ['two documents', 'accept: true\n---\naccept: false', /valid YAML/],
    ['an alias', 'accept: &all [issues]\nanonymous_friendly: *all', /valid YAML/],
    ['a tag', 'accept: !!js/function "x"', /valid YAML/],
    ['a key that is a list', '? [accept]\n: false', /valid YAML/],
    ['a prototype', '__proto__: {accept: true}', /may contain only/],
    ['too many bytes', `# ${'x'.repeat(8192)}`, /8 KB/],
    ['deep nesting', '['.repeat(8000), /valid YAML/],
  ])('with %s accepts nothing, and says why', (_, text, problem) => {
    const stated = { accepted: [], problem: expect.stringMatching(problem) as string };
    expect(parse(text)).toEqual({ ...OPEN_POLICY, ...stated });
  });

  it.each(['[', '{}', '[,', '{a', 'a:\n', '? a\n', 'a: b\n', '- ', '? ', '!a ', '"', '\n'])(
    'that is full of %j is looked at a bounded number of times',
    async (part) => {
      const text = part.repeat(8_000 / part.length);
      const { looks, characters } = await workOf(() => parse(text));
      expect(looks + characters).toBeLessThan(20_000);
    },
  );

  it('that is full of comments is read', () => {
    expect(parse(`${'# thirty characters for a line\n'.repeat(250)}accept: false`).problem).toBeNull();
  });

  it('that is a folder, or no UTF-8, accepts nothing', () => {
    expect(parsePolicy(null).problem).toMatch(/must be a file/);
    expect(parsePolicy(new Uint8Array([0xff, 0xfe, 0x00])).problem).toMatch(/valid YAML/);
  });

  it('never throws, and accepts all or nothing of what is no policy', () => {
    const words = fc.constantFrom(
      'accept',
      'anonymous_friendly',
      ':',
      ' ',
      '\n',
      '-',
      '[',
      ']',
      '{',
      '}',
      '&a',
      '*a',
      '!',
      '|',
      '"',
      "'",
      '?',
      '#',
      'true',
      'false',
      'issues',
      '%',
      '\t',
      '<<',
      '\0',
      '\u0085',
      '\uFFFF',
    );
    fc.assert(
      fc.property(fc.array(words, { maxLength: 40 }), (parts) => {
        const policy = parse(parts.join(''));
        if (policy.problem !== null) expect(policy.accepted).toEqual([]);
      }),
    );
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => void parsePolicy(bytes)));
  });
});

describe('the sentence of a refusal', () => {
  it('names the repository, its file, and what is accepted instead', () => {
    expect(policyRefusal(OPEN_POLICY, repository, 'comments')).toBeNull();
    expect(policyRefusal(parse('accept: [issues, comments]'), repository, 'comments')).toBeNull();
    expect(policyRefusal(parse('accept: false'), repository, 'pull_requests')).toBe(
      'octo/hello does not accept anonymous pull requests: its .gitveil.yml says so.',
    );
    expect(policyRefusal(parse('accept: [issues, pull_requests]'), repository, 'comments')).toBe(
      'octo/hello does not accept anonymous comments, only pull requests and issues: its .gitveil.yml says so.',
    );
  });

  it('names the file of the owner, where that counts', () => {
    const owners = { ...parse('accept: false'), owners: 'octo/.github' };
    expect(policyRefusal(owners, repository, 'issues')).toBe(
      'octo/hello does not accept anonymous issues: the .gitveil.yml of octo/.github says so.',
    );
    expect(policyRefusal({ ...parse('- accept'), owners: 'octo/.github' }, repository, 'issues')).toMatch(
      /^octo\/hello accepts nothing until its maintainers correct the \.gitveil\.yml of octo\/\.github, which may /,
    );
  });

  it('names what is wrong with a file that cannot be read', () => {
    expect(policyRefusal(parse('acept: false'), repository, 'issues')).toBe(
      'octo/hello accepts nothing until its maintainers correct its .gitveil.yml, which has the unknown key "acept" (did you mean accept?).',
    );
  });
});
