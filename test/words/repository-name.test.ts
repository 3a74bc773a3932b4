/** Which names of repositories get into a URL for the host (contract, 4.15, section 7). */
import { expect, it } from 'vitest';
import { fullName, parseRepositoryName, repositoryKey } from '../../src/words/repository-name.ts';

it.each(['hello', 'a', 'Hello-1_2.x', '.github', 'a'.repeat(100)])('%s is a name', (name) => {
  expect(parseRepositoryName(name, name)).toEqual({ owner: name, name });
});

it.each(['', '.', '..', 'a..b', 'a b', 'a/b', 'a%2fb', 'a\n', 'é', '~', 'a'.repeat(101)])(
  '%j is none, of an owner as of a repository',
  (name) => {
    expect(parseRepositoryName(name, 'hello')).toBeNull();
    expect(parseRepositoryName('octo', name)).toBeNull();
  },
);

it('.git behind a name is left out, and is no name by itself', () => {
  expect(parseRepositoryName('octo', 'hello.git')).toEqual({ owner: 'octo', name: 'hello' });
  expect(parseRepositoryName('octo', '.git')).toBeNull();
  expect(parseRepositoryName('octo', '...git')).toBeNull();
});

it('upper and lower case name the same repository of a host', () => {
  const named = { owner: 'Octo', name: 'Hello' };
  expect(fullName(named)).toBe('Octo/Hello');
  expect(repositoryKey('host.test', named)).toBe('host.test/octo/hello');
});
