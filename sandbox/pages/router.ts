/**
 * Routes requests for the pages, which need no JavaScript. They show what anyone may see, so
 * private repositories have none. The `html_url` of every REST answer leads to one of them. Their
 * forms post to their own page.
 */
import { Router } from 'itty-router';
import type { Host } from '../host.ts';
import type { Handler } from '../http-server.ts';
import type { Ntfy } from '../ntfy.ts';
import type { Issue, Repository } from '../records.ts';
import type { Answer } from '../rest/api-call.ts';
import { empty } from '../rest/api-call.ts';
import type { Acts } from './acts.ts';
import { issuePage, pullPage, pullText } from './issue-pages.ts';
import { messagePage } from './layout.ts';
import { appPage, frontPage, topicPage, userPage } from './overview-pages.ts';
import { commitPage, filePage, repositoryPage } from './repository-pages.ts';

interface Visit {
  readonly url: string;
  readonly params: Readonly<Record<string, string>>;
}

type PageAnswer = Answer | null | Promise<Answer | null>;

/** Builds the function that answers a browser. */
export function pageRouter(host: Host, ntfy: Ntfy, acts: Acts): Handler {
  const router = Router();
  const get = (path: string, show: (visit: Visit) => PageAnswer) => {
    router.get<Visit>(path, ({ url, params }) => show({ url, params: decoded(params) }));
  };
  const onRepository = (path: string, show: (repository: Repository, visit: Visit) => PageAnswer) => {
    get(`/:owner/:repo${path}`, (visit) => {
      const { owner = '', repo = '' } = visit.params;
      const repository = host.store.findRepository(owner, repo);
      if (repository) return repository.private ? null : show(repository, visit);
      const renamed = host.store.findRenamedRepository(owner, repo);
      return renamed && !renamed.private ? movedTo(renamed, visit) : null;
    });
  };

  get('/', () => frontPage(host, acts.canForgetLimits));
  get('/ntfy/:topic', ({ params }) => topicPage(ntfy, params['topic'] ?? ''));
  get('/apps/:slug', ({ params }) => appPage(host, params['slug'] ?? ''));
  get('/:owner', ({ params }) => userPage(host, params['owner'] ?? ''));
  onRepository('', (repository) => repositoryPage(host, repository));
  onRepository('/tree/:branch+', (repository) => repositoryPage(host, repository));
  onRepository('/commit/:sha', (repository, { params }) => {
    const { sha = '' } = params;
    return /^[0-9a-f]{40}$/.test(sha) ? commitPage(host, repository, sha) : null;
  });
  onRepository('/blob/:revision/:path+', (repository, { params, url }) => {
    const raw = new URL(url).searchParams.has('raw');
    return filePage(host, repository, params['revision'] ?? '', params['path'] ?? '', raw);
  });
  onRepository('/issues/:number', (repository, { params }) => {
    const issue = issueNumbered(repository, params['number'] ?? '');
    return issue && issuePage(host, repository, issue);
  });
  onRepository('/pull/:number', (repository, { params }) => {
    const [number = '', form] = (params['number'] ?? '').split('.');
    const issue = issueNumbered(repository, number);
    if (!issue?.pull) return null;
    if (form === undefined) return pullPage(host, repository, issue, issue.pull);
    return ['diff', 'patch'].includes(form) ? pullText(host, repository, issue.pull, form) : null;
  });

  return async (request) => {
    if (request.method === 'POST') return acts.handle(request);
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      return empty(405, { allow: 'GET, HEAD, POST' });
    }
    const answer = (await router.fetch({ method: 'GET', url: request.url })) as Answer | null;
    return answer ?? messagePage(404, 'Not found', 'There is nothing here.');
  };
}

function issueNumbered(repository: Repository, number: string): Issue | null {
  return repository.issues[Number(number) - 1] ?? null;
}

function movedTo(repository: Repository, visit: Visit): Answer {
  const url = new URL(visit.url);
  const rest = url.pathname.split('/').slice(3);
  return empty(301, { location: ['', repository.owner, repository.name, ...rest].join('/') + url.search });
}

function decoded(params: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(params).map(([name, value]) => {
      try {
        return [name, decodeURIComponent(value)];
      } catch {
        return [name, value];
      }
    }),
  );
}
