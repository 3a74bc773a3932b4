import { describe, expect, it } from 'vitest';
import { readHookDelivery } from '../../src/events/hook-delivery.ts';

const repository = { full_name: 'octo/hello', owner: { login: 'octo' }, private: false };
const name = { owner: 'octo', name: 'hello' };
const named = { ...name, id: null };

describe('a thread', () => {
  it('is that of a comment, with whom it mentions', () => {
    const comment = { body: 'Thanks @Mona.\n@gitveil-bot stop, @gitveil[bot] @mona', user: { login: 'x' } };
    expect(readHookDelivery({ action: 'created', issue: { number: 7 }, comment, repository })).toEqual({
      kind: 'thread',
      thread: {
        repository: name,
        number: 7,
        isIssue: true,
        mentions: ['mona', 'gitveil-bot', 'gitveil'],
      },
    });
  });

  it.each([
    ['a comment on a pull request', { issue: { number: 7, pull_request: {} }, comment: { body: '' } }],
    ['a pull request', { number: 7, pull_request: { number: 7 } }],
    ['a review', { pull_request: { number: 7 }, review: { body: '@gitveil-bot stop' } }],
  ])('of %s is a pull request', (_, body) => {
    const thread = { repository: name, number: 7, isIssue: false, mentions: [] };
    expect(readHookDelivery({ ...body, repository })).toEqual({ kind: 'thread', thread });
  });
});

it('about a private repository names nothing, as the service writes in none', () => {
  const secret = { ...repository, private: true };
  const other = { kind: 'other' };
  expect(readHookDelivery({ issue: { number: 7 }, comment: { body: '@bot' }, repository: secret })).toEqual(
    other,
  );
  expect(readHookDelivery({ pull_request: { number: 7 }, repository: secret })).toEqual(other);
  expect(readHookDelivery({ installation: { id: 1 }, repositories: [secret] })).toEqual(other);
});

describe('an installation', () => {
  const installation = { id: 1 };

  it('names each repository in which something may have changed', () => {
    const repositories = [repository, { full_name: 'octo/other', id: 9 }];
    const both = [named, { owner: 'octo', name: 'other', id: 9 }];
    expect(readHookDelivery({ action: 'deleted', installation, repositories })).toEqual({
      kind: 'installation',
      repositories: both,
    });
    const selected = { repositories_added: [repository], repositories_removed: [repositories[1]] };
    expect(readHookDelivery({ installation, ...selected })).toEqual({
      kind: 'installation',
      repositories: both,
    });
    expect(readHookDelivery({ action: 'renamed', installation, repository })).toEqual({
      kind: 'installation',
      repositories: [named],
    });
  });

  it('names a hundred at most', () => {
    const repositories = Array.from({ length: 5000 }, () => repository);
    expect(readHookDelivery({ installation, repositories })).toMatchObject({ repositories: { length: 100 } });
  });
});

const commented = (body: unknown) =>
  readHookDelivery({ issue: { number: 7 }, comment: { body }, repository });

describe('nothing', () => {
  it.each([
    ['no object', 'text'],
    ['null', null],
    ['a ping', { zen: 'Words', hook: {} }],
    ['no number', { issue: { number: 'seven' }, repository }],
    ['no name of a repository', { issue: { number: 7 }, repository: { full_name: 'octo/../hello' } }],
    ['a path', { issue: { number: 7 }, repository: { full_name: 'octo/hello/issues' } }],
    ['a repository without an installation', { repository }],
    ['lists of something else', { installation: {}, repositories: 'all', repositories_added: [7, null] }],
  ])('is named by %s', (_, body) => {
    expect(readHookDelivery(body)).toEqual({ kind: 'other' });
  });

  it('is mentioned by what is no text, or not within a comment of the host', () => {
    for (const body of [7, null, `${'x'.repeat(65_536)}@mona`])
      expect(commented(body)).toMatchObject({ thread: { mentions: [] } });
    const many = Array.from({ length: 50 }, (_, at) => `@a${at}`).join(' ');
    expect(commented(many)).toMatchObject({ thread: { mentions: { length: 20 } } });
  });
});
