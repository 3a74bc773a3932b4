/**
 * A person at work with one of the clients: what they do must succeed, except for a push, which a
 * story judges.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import { type Accepted, expectAccepted } from '../../e2e/support/contribution.ts';
import { Clone, type GitRun, type Person } from '../../e2e/support/person.ts';
import type { TestBed, UpstreamOptions } from '../../e2e/support/test-bed.ts';
import type { Upstream } from '../../e2e/support/upstream.ts';
import type { ClientRun, CommitWish, GitClient } from './client.ts';

export class Contributor {
  readonly bed: TestBed;
  readonly client: GitClient;
  readonly upstream: Upstream;
  readonly person: Person;
  /** The same folder for the tests' own Git, which looks into it. */
  readonly clone: Clone;

  private constructor(bed: TestBed, client: GitClient, upstream: Upstream, person: Person) {
    this.bed = bed;
    this.client = client;
    this.upstream = upstream;
    this.person = person;
    this.clone = new Clone(person, join(person.home, 'clone'));
  }

  /** A new repository, and a new person who has cloned it. */
  static async start(
    bed: TestBed,
    client: GitClient,
    wanted: { readonly depth?: number; readonly upstream?: UpstreamOptions } = {},
  ): Promise<Contributor> {
    const upstream = await bed.createUpstream(wanted.upstream);
    const contributor = new Contributor(bed, client, upstream, bed.person());
    const { person, clone } = contributor;
    succeeded(await client.clone(person, upstream.url, clone.path, wanted.depth ?? null));
    // What they make in it is searched for from now on.
    person.repositories.push(clone.path);
    return contributor;
  }

  /** The same person and clone with another client. */
  with(client: GitClient): Pick<Contributor, 'push'> {
    return {
      push: (refspecs, options) => client.push(this.person, this.clone.path, wish(refspecs, options)),
    };
  }

  write(name: string, content: Uint8Array): void {
    const path = join(this.clone.path, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }

  async fetch(): Promise<void> {
    succeeded(await this.client.fetch(this.person, this.clone.path));
  }

  async switchTo(branch: string): Promise<void> {
    succeeded(await this.client.switchTo(this.person, this.clone.path, branch));
  }

  async commit(wanted: CommitWish = {}): Promise<void> {
    succeeded(await this.client.commit(this.person, this.clone.path, wanted));
  }

  async merge(branch: string): Promise<void> {
    succeeded(await this.client.merge(this.person, this.clone.path, branch));
  }

  async tag(name: string): Promise<void> {
    succeeded(await this.client.tag(this.person, this.clone.path, name));
  }

  push(refspecs: readonly string[], options?: readonly string[]): Promise<ClientRun> {
    return this.client.push(this.person, this.clone.path, wish(refspecs, options));
  }

  /**
   * Fails unless the push became an open pull request with the person's work under the bot's name.
   */
  expectAccepted(pushed: ClientRun, tip = 'HEAD', upstream = this.upstream): Promise<Accepted> {
    return expectAccepted(this.bed, { upstream, clone: this.clone }, asGitRun(pushed), { tip });
  }

  /**
   * Fails unless the person reads why nothing of the push was taken, and nothing of it reached the
   * host.
   */
  async expectRefused(pushed: ClientRun, reason: string | RegExp): Promise<void> {
    expect(pushed.isOk, pushed.output).toBe(false);
    expect(pushed.output).toMatch(reason);
    expect(await this.bed.host.pulls(this.upstream)).toEqual([]);
    expect(this.bed.host.requestsFor(this.upstream, 'POST', /\/git-receive-pack$/)).toEqual([]);
  }
}

function wish(refspecs: readonly string[], options: readonly string[] = []) {
  return { refspecs, options };
}

function succeeded({ isOk, output }: ClientRun): void {
  expect(isOk, output).toBe(true);
}

function asGitRun({ isOk, output }: ClientRun): GitRun {
  return { code: isOk ? 0 : 1, stdout: '', stderr: output };
}
