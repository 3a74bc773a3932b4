/** Promises of a host where a push to upstream opens the pull request (`AgitHost`). */
import { describe, expect, it } from 'vitest';
import type { AgitHost } from '../../../src/host/open.ts';
import type { World } from './world.ts';

const LONG = 'Zeile für Zeile.\n'.repeat(3_500);

export function agitContract(world: () => World): void {
  const host = () => world().repositories as AgitHost;

  /** Another commit of the same topic, which stands on upstream and not on the first one. */
  async function offered(isForced: boolean) {
    const first = await world().proposed();
    const request = { base: 'main', topic: first.head.branch, text: null, isForced };
    const file = ['M 100644 inline other.txt', 'data 6', 'other', ''];
    return { ...first, pushing: world().offer(first.repository, request, file) };
  }

  describe('a push to upstream', () => {
    it('opens a pull request with the text that it names', async () => {
      const { name, number } = await world().proposed();
      expect(await world().host.textOf(name, number)).toBe('A body\n\n---\n*by the bot*');
    });

    it.each([
      ['none', ''],
      ['one that is too long for an option', LONG],
    ])('opens one whose description is right: %s', async (_, body) => {
      const repository = await world().host.createRepository();
      const text = { title: '{base64} is no code', body, isDraft: true };
      const tip = await world().offer(repository, { base: 'main', topic: 'anon-1', text, isForced: false });
      const found = await host().findDelivered(repository.name, world().host.botLogin, tip);
      const { number } = found ?? expect.fail('it is not found');
      const delivered = await host().delivered(repository.name, number, text);
      expect(delivered).toEqual(found);
      expect((await world().host.textOf(repository.name, number)).trim()).toBe(body.trim());
      expect(await world().activity.conversation(repository.name, number)).toMatchObject({
        title: 'WIP: {base64} is no code',
      });
    });

    it('updates the open one, whose commits go only if it is forced', async () => {
      const { pushing, name, number, head } = await offered(true);
      const tip = await pushing;
      expect(await host().findDelivered(name, head.owner, tip)).toMatchObject({ number });
    });

    it('is refused where commits would go, in words that are known', async () => {
      const { pushing } = await offered(false);
      const refused = await pushing.then(
        () => '',
        (error: unknown) => String(error),
      );
      expect(host().isStale(refused)).toBe(true);
    });

    it('opens another one after a close, and both are found', async () => {
      const { repository, name, number, head } = await world().proposed();
      await host().closePullRequest(name, number, null);
      const text = { title: 'Again', body: 'And again', isDraft: false };
      const tip = await world().offer(repository, {
        base: 'main',
        topic: head.branch,
        text,
        isForced: false,
      });
      const again = await host().findDelivered(name, head.owner, tip);
      expect(again).toMatchObject({ isOpen: true });
      expect(again?.number).not.toBe(number);
      const place = { owner: name.owner, repo: name.name, number: again?.number ?? 0 };
      expect(await host().findPullRequest(name, head, place)).toEqual(again);
    });

    it('is for a branch with a slash in its name', async () => {
      const repository = await world().host.createRepository();
      await repository.upstream.grow({ branch: 'release/1.0', from: 'main' });
      const text = { title: 'T', body: 'B', isDraft: false };
      const request = { base: 'release/1.0', topic: 'anon-2', text, isForced: false };
      const tip = await world().offer(repository, request);
      const head = { owner: world().host.botLogin, branch: 'anon-2' };
      const found = await host().findPullRequest(repository.name, head);
      expect(found).toMatchObject({ base: 'release/1.0', isOpen: true });
      expect(await host().findDelivered(repository.name, head.owner, tip)).toEqual(found);
    });

    it('can be made to a repository that says so', async () => {
      const { name } = await world().host.createRepository();
      expect(await world().transport.pushCapabilities(name)).toContain('push-options');
    });
  });
}
