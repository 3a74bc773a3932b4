/**
 * The Git remote: `/v1/<host>/<owner>/<repo>`, with or without `.git` (contract, 4.5 to 4.7).
 *
 * These endpoints are always anonymous and never ask for a key or a password. Errors that the contract does not give
 * as JSON are plain text: Git shows the body of such an answer behind `remote:`.
 */
import { Hono } from 'hono';
import { repositoryPath } from '../../config/hosts.ts';
import type { AppEnv } from '../../env.ts';
import { fullName } from '../../host/repository-name.ts';
import { discoverFetch, uploadPack } from './git-fetch.ts';
import { refuseLfs } from './git-lfs.ts';
import { discoverPush, receivePack } from './git-push.ts';
import { showRemote } from '../pages/remote-page.ts';
import { publicOrigin } from '../request/public-origin.ts';
import { onGitRepository, onRemote, prefersPage, REPOSITORY_PATH } from '../request/repository.ts';

export const git = new Hono<AppEnv>().basePath(REPOSITORY_PATH);

git.get(
  '/info/refs',
  onGitRepository((c, target) => {
    const service = c.req.query('service');
    if (service === 'git-receive-pack') return discoverPush(c, target);
    if (service === 'git-upload-pack') return discoverFetch(c, target);
    return c.text(
      'Unknown service: use git-upload-pack or git-receive-pack. Is your Git client up to date?\n',
      400,
    );
  }),
);

git.post('/git-receive-pack', onGitRepository(receivePack));
git.post('/git-upload-pack', onGitRepository(uploadPack));

/** For every method and path that git-lfs uses. */
git.all('/info/lfs/:path{.+}', refuseLfs);

/** For a person who opens the remote's address. */
git.get(
  '/',
  onRemote((c, target) => {
    const { config, host } = c.var;
    if (prefersPage(c)) return showRemote(c, target);
    const remote = `${publicOrigin(c.req.raw, config)}/v1/${repositoryPath(host, target)}`;
    return c.text(
      [
        `This is a Git remote for anonymous contributions to ${fullName(target)}.`,
        '',
        'Clone, commit and push. You need no account: a bot opens the pull request for you.',
        '',
        `  git clone ${remote}`,
        `  cd ${target.name}`,
        '  git switch -c my-change',
        '  git commit -a',
        '  git push origin my-change',
        '',
        'Opened in a browser, this address has forms for issues, replies and changes.',
        '',
      ].join('\n'),
    );
  }),
);
