/** `git push -o`: what the options ask for, and what is no option of ours. */
import { describe, expect, it } from 'vitest';
import {
  faultsIn,
  isDoubtful,
  parsePushOptions,
  type PushOptions,
} from '../../../src/push/receive/push-options.ts';
import { workBranch } from '../../../src/words/pr-hash.ts';

const HASH = '0123456789ab';
const KEY = '0123456789abcdef0123456789abcdef';
const NONE: PushOptions = {
  prHash: null,
  prKey: null,
  overwrite: false,
  title: null,
  description: null,
  base: null,
  ai: null,
  issue: null,
  squash: false,
  draft: false,
  preview: false,
  publishNames: false,
  withdraw: false,
  delayMs: null,
  wait: false,
  signOff: false,
  stripTrails: false,
  yes: [],
  warnings: [],
};

/** None of them means the same here; `title`, `description` and `base` do. */
const OPTIONS_OF_OTHER_HOSTS = {
  GitLab: [
    'ci.skip',
    'ci.no_pipeline',
    'ci.input=a=b',
    'ci.variable=A=b',
    'merge_request.create',
    'merge_request.target=main',
    'merge_request.target_project=a/b',
    'merge_request.merge_when_pipeline_succeeds',
    'merge_request.auto_merge',
    'merge_request.remove_source_branch',
    'merge_request.squash',
    'merge_request.title=A',
    'merge_request.description=A',
    'merge_request.draft',
    'merge_request.milestone=A',
    'merge_request.label=A',
    'merge_request.unlabel=A',
    'merge_request.assign=a',
    'merge_request.unassign=a',
    'mr.create',
    'integrations.skip_ci',
    'secret_detection.skip_all',
    'secret_push_protection.skip_all',
  ],
  Gerrit: [
    'topic=a',
    't=a',
    'hashtag=a',
    'private',
    'remove-private',
    'wip',
    'work-in-progress',
    'ready',
    'message=a',
    'm=a',
    'publish-comments',
    'no-publish-comments',
    'label=Code-Review+1',
    'l=Code-Review+1',
    'reviewer=a',
    'r=a',
    'cc=a',
    'notify=NONE',
    'notify-to=a',
    'submit',
    'edit',
    'merged',
    'publish',
    'trace',
    'deadline=1m',
    'skip-validation',
    'push-justification=a',
    'create-cod-token',
  ],
  'Forgejo and Gitea': [
    'topic=a',
    'force-push',
    'force-push=true',
    'repo.private=true',
    'repo.template=true',
  ],
  others: ['skip-ci', 'no-ci', 'ci-skip', 'nokeycheck', 'force', 'target=main', 'head=a', 'body=a', 'push'],
};

describe('parsePushOptions', () => {
  it.each<[string[], Partial<PushOptions>]>([
    [[], {}],
    [[`pr-hash=${HASH}`], { prHash: HASH }],
    [['pr-hash=0123ABCD'], { prHash: '0123abcd' }],
    [[`pr-hash=${'a'.repeat(40)}`], { prHash: 'a'.repeat(40) }],
    [[`pr-hash=${HASH}`, `pr-hash=${HASH}`], { prHash: HASH }],
    [[`pr-key=${KEY.toUpperCase()}`], { prKey: KEY }],
    [['title=Grüße = 🐙'], { title: 'Grüße = 🐙' }],
    [[`title=${'🐙'.repeat(256)}`], { title: '🐙'.repeat(256) }],
    [['description='], { description: '' }],
    [['description=A', 'description=', 'description=A'], { description: 'A\n\nA' }],
    [['delay=2h'], { delayMs: 7_200_000 }],
    [['base=release/1.x', 'squash'], { base: 'release/1.x', squash: true }],
    [['squash=true'], { squash: true }],
    [['draft'], { draft: true }],
    [[`pr-hash=${HASH}`, 'overwrite'], { prHash: HASH, overwrite: true }],
    [['sign-off'], { signOff: true }],
    [['strip-trails'], { stripTrails: true }],
    [['yes=names,home-folders', 'yes=metadata'], { yes: ['names', 'home-folders', 'metadata'] }],
  ])('reads %j', (options, expected) => {
    expect(parsePushOptions(options)).toEqual({ kind: 'valid', options: { ...NONE, ...expected } });
  });

  it.each<[rule: string, options: string[]]>([
    [
      'pr-hash must be 8 to 40 hexadecimal characters, as the push that opened it has shown it',
      ['pr-hash', 'pr-hash=', 'pr-hash=0123456', `pr-hash=${'a'.repeat(41)}`, 'pr-hash=0123456g'],
    ],
    [
      'pr-hash must be 8 to 40 hexadecimal characters, as the push that opened it has shown it',
      ['pr-hash= 01234567', 'pr-hash=01234567\n', 'pr-hash=../../../../x', 'pr-hash=0123é567'],
    ],
    [
      'pr-key must be 32 hexadecimal characters, as the push that opened it has shown it',
      ['pr-key', `pr-key=${HASH}`],
    ],
    [
      'title must be one line of 1 to 256 characters',
      ['title', 'title=', 'title= ', `title=${'x'.repeat(257)}`, 'title=a\0b', 'title=a\u0085b'],
    ],
    [
      'description must be at most 4000 characters, one line in each option',
      ['description', 'description=\u001b[2J', `description=${'x'.repeat(4001)}`],
    ],
    [
      'base must be the name of a branch',
      ['base', 'base=', 'base=a..b', 'base=a b', 'base=x.lock', 'base=/x'],
    ],
    [
      'delay must be a duration from 1m to 7d, such as 2h, or 0s for at once',
      ['delay=30s', 'delay=8d', 'delay=1w', 'delay=soon', 'delay=-1h', 'delay='],
    ],
    [
      'yes must be codes of warnings, as a push shows them in brackets, separated by commas',
      ['yes', 'yes=', 'yes=all', 'yes=names,', `yes=${'names,'.repeat(200)}names`],
    ],
    ['squash takes no value', ['squash=no', 'squash=']],
    ['draft takes no value', ['draft=1']],
    ['sign-off takes no value', ['sign-off=no', 'sign-off=Ada']],
  ])('refuses with a sentence that shows nothing of the value: %s', (message, options) => {
    for (const option of options)
      expect(parsePushOptions([option])).toMatchObject({ kind: 'invalid', message });
  });

  it.each([
    [[`pr-hash=${HASH}`, 'pr-hash=ffffffff'], 'pr-hash'],
    [['title=One', 'title=Two'], 'title'],
  ])('refuses two answers to one question: %j', (options, name) => {
    const message = `${name} is given twice with different values: give it once`;
    expect(parsePushOptions(options)).toMatchObject({ kind: 'invalid', message });
  });

  it.each(['ci.skip', 'drone=true', 'pr-url=https://x.example', 'constructor=x', '', '='])(
    'warns of %j without repeating it, and goes on',
    (option) => {
      const result = parsePushOptions([option, `pr-hash=${HASH}`]);
      const warnings = [expect.stringMatching(/ pr-hash=, .*draft, /) as string];
      expect(result).toEqual({ kind: 'valid', options: { ...NONE, prHash: HASH, warnings } });
    },
  );

  it.each([
    ['previw', 'preview'],
    ['Preview', 'preview'],
    ['--preview', 'preview'],
    ['preview ', 'preview'],
    ['prewiev=true', 'preview'],
    ['publish_names', 'publish-names'],
    ['PR-HASH=01234567', 'pr-hash'],
    ['pr-hash-x=01234567', 'pr-hash'],
    [`pr_key=${KEY}`, 'pr-key'],
    ['squahs', 'squash'],
    ['drafts', 'draft'],
    ['drft', 'draft'],
    ['titel=A', 'title'],
    ['Description=A', 'description'],
    ['bsae=main', 'base'],
    ['signoff', 'sign-off'],
    ['sign_off', 'sign-off'],
    ['signed-off', 'sign-off'],
    ['dry-run', 'preview'],
    ['dry_run', 'preview'],
    ['dryrun', 'preview'],
    ['delete', 'withdraw'],
    ['close', 'withdraw'],
  ])('refuses %j, which nearly is an option', (option, meant) => {
    const name = option.split('=')[0]?.trim();
    const message = `"${name}" is no push option: did you mean ${meant}? Correct it or leave it out`;
    expect(parsePushOptions([option])).toMatchObject({ kind: 'invalid', message });
    expect(parsePushOptions(['title=A', option, 'squash'])).toMatchObject({ kind: 'invalid', message });
  });

  it('names every fault, each once, and answers the options that are valid', () => {
    const result = parsePushOptions(['drft', 'title=A', 'base=a..b', 'base=c..d', 'squash=no', 'sign-off']);
    expect(result).toMatchObject({
      kind: 'invalid',
      message: expect.stringContaining('did you mean draft'),
      faults: [{ option: 'draft' }, { option: 'base' }, { option: 'squash' }],
      options: { title: 'A', base: null, squash: false, signOff: true },
    });
    expect(isDoubtful(faultsIn(result), 'delay', 'base')).toBe(true);
    expect(isDoubtful(faultsIn(result), 'delay')).toBe(false);
    expect(faultsIn(parsePushOptions(['squash']))).toEqual([]);
  });

  it('does not miss a pr-hash that was given, but is none', () => {
    const { length } = faultsIn(parsePushOptions(['overwrite', 'pr-hash=xyz']));
    expect(length).toBe(1);
  });

  it('echoes no control characters', () => {
    expect(parsePushOptions(['pre\u001bview'])).toMatchObject({
      message: expect.stringMatching(/^"pre\[U\+001B\]view" is no push option: [ -~]+$/) as string,
    });
  });

  // People set some of them for all remotes (push.pushOption).
  it.each(Object.entries(OPTIONS_OF_OTHER_HOSTS))('ignores the options of %s', (_, options) => {
    for (const option of options) {
      expect(parsePushOptions([option]), option).toMatchObject({ kind: 'valid', options: { prHash: null } });
    }
  });
});

describe('workBranch', () => {
  it('is named after the pr-hash', () => {
    expect(workBranch(HASH)).toBe(`anon-${HASH}`);
  });
});
