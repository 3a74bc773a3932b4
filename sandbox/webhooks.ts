/**
 * Webhooks of the App, as docs.github.com/webhooks/webhook-events-and-payloads describes them. Each
 * event of a repository in which the App is installed makes a delivery. It is sent at once, or is
 * held, so that a test can send it late, twice, in another order, or never.
 */
import { createHmac, randomUUID } from 'node:crypto';
import type { Host } from './host.ts';
import type { Comment, Installation, Issue, Repository, Review } from './records.ts';
import { renderApp, renderInstallation, namedRepository } from './rest/render-app.ts';
import { pullFull, renderComment, renderIssue } from './rest/render-issue.ts';
import { fullRepository } from './rest/render-repository.ts';
import { simpleUser } from './rest/render-user.ts';
import { renderReview } from './rest/reviews.ts';

/** An event of a thread, or of a repository. */
export interface Deed {
  readonly event: 'issues' | 'issue_comment' | 'pull_request' | 'pull_request_review' | 'repository';
  readonly action: string;
  readonly actor: string;
  readonly repository: Repository;
  readonly issue?: Issue;
  readonly comment?: Comment;
  readonly review?: Review;
}

export interface Delivery {
  readonly event: string;
  readonly action: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

type InstallationAction = 'created' | 'deleted' | 'suspend' | 'unsuspend' | 'new_permissions_accepted';

export class Webhooks {
  /** Deliveries so far, the oldest first. */
  readonly made: Delivery[] = [];
  /** Whether deliveries wait until somebody sends them. */
  isHeld = true;
  #host: Host | null = null;

  /** Learns of the host, which is made after this. */
  attach(host: Host): void {
    this.#host = host;
  }

  happened(deed: Deed): void {
    const host = this.#hostWithHook();
    const installation = host?.apps.ofRepository(deed.repository);
    if (!host || !installation || installation.suspendedAt !== null) return;
    const { repository, issue, actor } = deed;
    this.#make(host, deed.event, deed.action, {
      ...(issue && threadParts(host, deed, issue)),
      repository: fullRepository(host, repository),
      sender: simpleUser(host, actor),
      installation: { id: installation.id, node_id: `installation-${installation.id}` },
    });
  }

  installationChanged(
    installation: Installation,
    action: InstallationAction,
    repositories: readonly Repository[],
  ): void {
    const host = this.#hostWithHook();
    if (!host?.apps.app) return;
    this.#make(host, 'installation', action, {
      installation: renderInstallation(host, host.apps.app, installation),
      repositories: repositories.map((repository) => namedRepository(host, repository)),
      ...(action === 'created' && { requester: null }),
      sender: simpleUser(host, installation.account),
    });
  }

  selectionChanged(installation: Installation, repository: Repository, isAdded: boolean): void {
    const host = this.#hostWithHook();
    if (!host?.apps.app) return;
    const named = [namedRepository(host, repository)];
    this.#make(host, 'installation_repositories', isAdded ? 'added' : 'removed', {
      installation: renderInstallation(host, host.apps.app, installation),
      repository_selection: 'selected',
      repositories_added: isAdded ? named : [],
      repositories_removed: isAdded ? [] : named,
      requester: null,
      sender: simpleUser(host, installation.account),
    });
  }

  /** Sends the event with which GitHub tries a webhook. */
  ping(): Delivery {
    const host = this.#hostWithHook();
    if (!host?.apps.app) throw new Error('the App has no webhook');
    return this.#make(host, 'ping', '', {
      zen: 'Keep it logically awesome.',
      hook: renderApp(host, host.apps.app),
    });
  }

  /** Sends a delivery, perhaps again; answers the status. */
  async send({ headers, body }: Delivery): Promise<number> {
    const url = this.#host?.apps.app?.webhook?.url;
    if (url === undefined) throw new Error('the App has no webhook');
    const answer = await fetch(url, { method: 'POST', headers, body, redirect: 'manual' });
    await answer.body?.cancel();
    return answer.status;
  }

  #hostWithHook(): Host | null {
    return this.#host?.apps.app?.webhook ? this.#host : null;
  }

  #make(host: Host, event: string, action: string, payload: object): Delivery {
    const { id: appId = 0, webhook } = host.apps.app ?? {};
    const body = JSON.stringify({ ...(action !== '' && { action }), ...payload });
    const delivery = { event, action, body, headers: headersOf(event, body, appId, webhook?.secret ?? '') };
    this.made.push(delivery);
    // GitHub does not repeat what fails.
    if (!this.isHeld) this.send(delivery).catch(() => {});
    return delivery;
  }
}

function headersOf(event: string, body: string, appId: number, secret: string): Record<string, string> {
  const signature = (algorithm: string): string => createHmac(algorithm, secret).update(body).digest('hex');
  return {
    accept: '*/*',
    'content-type': 'application/json',
    'user-agent': 'GitHub-Hookshot/0000000',
    'x-github-delivery': randomUUID(),
    'x-github-event': event,
    'x-github-hook-id': String(appId),
    'x-github-hook-installation-target-id': String(appId),
    'x-github-hook-installation-target-type': 'integration',
    'x-hub-signature': `sha1=${signature('sha1')}`,
    'x-hub-signature-256': `sha256=${signature('sha256')}`,
  };
}

/** Renders the parts of an event that say which thread it is about. */
function threadParts(host: Host, { event, repository, comment, review }: Deed, issue: Issue): object {
  const { pull, number } = issue;
  const pullPart = pull && { pull_request: pullFull(host, repository, issue, pull, 1) };
  if (event === 'pull_request') return { number, ...pullPart };
  if (review) {
    const rendered = renderReview(host, repository, issue, review);
    // Events name the verdict in small letters.
    return { ...pullPart, review: { ...rendered, state: rendered.state.toLowerCase() } };
  }
  return {
    issue: renderIssue(host, repository, issue),
    ...(comment && { comment: renderComment(host, repository, issue, comment) }),
  };
}
