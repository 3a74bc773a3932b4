/** Which comments count as maintainers' words, and what follows from them. */
import { describe, expect, it } from 'vitest';
import { hear, type Listener, type Stance, WHOLE } from '../../src/events/hear.ts';
import type { Remark, Repository, Role } from '../../src/host/code-host.ts';
import { REPOSITORY } from '../host/support/repository.ts';

const BOT = { id: 1, login: 'veil-bot' };
const NAME = { owner: 'octo', name: 'hello' };
const THREAD = 3;
const PEOPLE: Readonly<Record<string, number>> = { octo: 2, mona: 3, lisa: 4, eve: 5 };
const STANDINGS: Readonly<Record<string, string>> = { octo: 'OWNER', mona: 'MEMBER', lisa: 'COLLABORATOR' };

let lastId = 0;
interface Written {
  readonly by: string;
  readonly second?: number;
  readonly isEdited?: boolean;
  readonly association?: string | null;
}

function written(text: string, { by, second, isEdited = false, association }: Written): Remark {
  const id = ++lastId;
  const speaker = {
    login: by,
    association: association === undefined ? (STANDINGS[by] ?? 'NONE') : association,
  };
  return {
    key: `comment:${id}`,
    authorId: PEOPLE[by] ?? BOT.id,
    url: 'https://host.test/octo/hello/pull/3',
    at: new Date((second ?? id) * 1000).toISOString(),
    kind: 'commented',
    text,
    comment: { id, in: 'comment', isEdited, by: speaker },
  };
}

/** Records what is done; `asked` are the calls that a host without associations would get. */
class World implements Listener {
  readonly own = [BOT];
  readonly stances = new Map<number, Stance>();
  readonly heardKeys = new Set<string>();
  readonly done: string[] = [];
  readonly asked: string[] = [];
  failure: Error | null = null;
  time = 0;
  lookedUp: Role = 'none';

  readonly host = {
    repository: async () => REPOSITORY,
    isStranger: async (_: object, { association }: { association: string | null }) => association === 'NONE',
    standing: async (_: object, { login, association }: { login: string; association: string | null }) => {
      if (association === null) this.asked.push(login);
      if (association === null) return this.lookedUp;
      return association === 'OWNER' ? 'owner' : association === 'NONE' ? 'none' : 'maintainer';
    },
    acknowledge: async (_: object, __: number, { id }: { id: number }) => void this.done.push(`thumb ${id}`),
  } as const;
  readonly memory = {
    wasHeard: (key: string) => this.heardKeys.has(key),
    heard: (key: string) => void this.heardKeys.add(key),
    stance: (_: number, thread: number) => this.stances.get(thread) ?? null,
    setStance: (_: Repository, thread: number, stance: Stance) => void this.stances.set(thread, stance),
  };

  now(): number {
    return this.time;
  }

  async closeAll(): Promise<void> {
    if (this.failure !== null) throw this.failure;
    this.done.push('closed');
  }

  stopped(): void {
    this.done.push('stopped');
  }

  hear(...remarks: readonly Remark[]): Promise<void> {
    return hear(this, NAME, THREAD, remarks);
  }

  get words() {
    return Object.fromEntries([...this.stances].map(([thread, { word }]) => [thread, word]));
  }
}

describe('maintainers', () => {
  it.each(['octo', 'mona', 'lisa'])('stop the service: %s', async (by) => {
    const world = new World();
    const stop = written('@veil-bot stop', { by });
    await world.hear(stop);
    expect(world.words).toEqual({ [WHOLE]: 'stop' });
    expect(world.done).toEqual(['stopped', `thumb ${stop.comment?.id}`]);
  });

  it('mute one thread', async () => {
    const world = new World();
    await world.hear(written('@veil-bot mute', { by: 'mona' }));
    expect(world.words).toEqual({ [THREAD]: 'mute' });
  });

  it('welcome it again: the owner, or who has stopped it', async () => {
    for (const by of ['octo', 'mona']) {
      const world = new World();
      await world.hear(written('@veil-bot stop', { by: 'mona' }), written('@veil-bot welcome', { by }));
      expect(world.words[WHOLE]).toBe('welcome');
    }
    const world = new World();
    await world.hear(
      written('@veil-bot stop', { by: 'mona' }),
      written('@veil-bot welcome', { by: 'lisa' }),
      // Who has lost the right since.
      written('@veil-bot welcome', { by: 'mona', association: 'NONE' }),
    );
    expect(world.words).toEqual({ [WHOLE]: 'stop' });
  });

  it('do not lift what another has said by saying it first themselves', async () => {
    const world = new World();
    await world.hear(
      written('@veil-bot stop', { by: 'octo' }),
      written('@veil-bot mute', { by: 'octo' }),
      written('@veil-bot stop\n@veil-bot mute\n@veil-bot welcome', { by: 'mona' }),
    );
    await world.hear(written('@veil-bot stop\n@veil-bot close all', { by: 'mona' }));
    await world.hear(written('@veil-bot welcome\n@veil-bot close all', { by: 'mona' }));
    expect(world.words).toEqual({ [WHOLE]: 'stop', [THREAD]: 'mute' });
    expect(world.done).not.toContain('closed');
    expect(world.done.filter((what) => what === 'stopped')).toHaveLength(1);
  });

  it('lose the right to welcome it once the owner has stopped it, too', async () => {
    const world = new World();
    await world.hear(written('@veil-bot stop', { by: 'mona' }), written('@veil-bot stop', { by: 'octo' }));
    await world.hear(written('@veil-bot welcome', { by: 'mona' }));
    expect(world.words).toEqual({ [WHOLE]: 'stop' });
  });

  it('close all that is open: the owner at once, others after they have stopped it', async () => {
    const both = '@veil-bot stop\n@veil-bot close all';
    const [owner, member] = [new World(), new World()];
    await owner.hear(written(both, { by: 'octo' }));
    expect(owner.done.slice(0, 2)).toEqual(['stopped', 'closed']);
    await member.hear(written(both, { by: 'mona' }));
    expect(member.done).not.toContain('closed');
    await member.hear(written('@veil-bot close all', { by: 'mona' }));
    expect(member.done).toContain('closed');
  });

  it('are heard again if closing has failed, for a day', async () => {
    const world = new World();
    const comment = written('@veil-bot close all\n@veil-bot stop', { by: 'octo' });
    world.failure = new Error('not now');
    await expect(world.hear(comment)).rejects.toBe(world.failure);
    expect(world.words).toEqual({ [WHOLE]: 'stop' });
    world.failure = null;
    await world.hear(comment);
    expect(world.done).toEqual(['stopped', 'closed', `thumb ${comment.comment?.id}`]);
    world.failure = new Error('never');
    world.time = 25 * 60 * 60 * 1000;
    await world.hear(written('@veil-bot close all', { by: 'octo' }));
    expect(world.done).toHaveLength(3);
  });

  it('close what is open although they repeat the stop, also while closing fails', async () => {
    for (const again of ['@veil-bot stop', '@veil-bot stop\n@veil-bot close all']) {
      const world = new World();
      await world.hear(written('@veil-bot stop', { by: 'mona' }));
      const closing = written('@veil-bot close all', { by: 'mona' });
      const repeated = written(again, { by: 'mona' });
      world.failure = new Error('not now');
      await expect(world.hear(closing)).rejects.toBe(world.failure);
      await world.hear(repeated).catch(() => {});
      world.failure = null;
      await world.hear(closing, repeated);
      expect(world.done).toContain('closed');
    }
    const world = new World();
    await world.hear(written('@veil-bot stop', { by: 'mona' }));
    await world.hear(written('@veil-bot stop\n@veil-bot close all', { by: 'mona' }));
    expect(world.done).toContain('closed');
  });

  it('are heard although closing fails for another comment', async () => {
    const world = new World();
    world.failure = new Error('not now');
    const closing = written('@veil-bot close all', { by: 'octo' });
    const stop = written('@veil-bot stop', { by: 'mona' });
    await expect(world.hear(closing, stop)).rejects.toBe(world.failure);
    expect(world.done).toEqual(['stopped', `thumb ${stop.comment?.id}`]);
  });
});

describe('a comment', () => {
  it.each<[string, Written]>([
    ['of a stranger', { by: 'eve' }],
    ['that was edited', { by: 'octo', isEdited: true }],
    ['of the bot', { by: 'veil-bot' }],
  ])('%s counts for nothing', async (_, facts) => {
    const world = new World();
    await world.hear(written('@veil-bot stop', facts));
    expect([world.words, world.done]).toEqual([{}, []]);
  });

  it('counts once', async () => {
    const world = new World();
    const [stop, welcome] = [
      written('@veil-bot stop', { by: 'octo' }),
      written('@veil-bot welcome', { by: 'octo' }),
    ];
    await world.hear(stop);
    await world.hear(stop, welcome);
    await world.hear(stop, welcome);
    expect(world.words[WHOLE]).toBe('welcome');
    expect(world.done).toHaveLength(3);
  });

  it('is answered once a read, however often the same person repeats it', async () => {
    const world = new World();
    const stops = Array.from({ length: 500 }, () => written('@veil-bot stop', { by: 'octo' }));
    await world.hear(...stops);
    await world.hear(...stops);
    expect(world.done).toEqual(['stopped', `thumb ${stops.at(-1)?.comment?.id}`]);
    const forged = stops.map(() => written('@veil-bot stop', { by: 'eve', association: null }));
    await world.hear(...forged);
    await world.hear(...forged);
    expect(world.asked).toEqual(['eve']);
  });

  it('costs few calls, in whatever order the same person repeats the words', async () => {
    const world = new World();
    const words = ['stop', 'mute', 'welcome'].map((word) => `@veil-bot ${word}`);
    const orders = words.flatMap((a) => words.flatMap((b) => words.map((c) => [a, b, c].join('\n'))));
    await world.hear(...[...orders, ...words].map((text) => written(text, { by: 'octo' })));
    expect(world.done.filter((what) => what.startsWith('thumb'))).toHaveLength(3);
  });

  it('changes nothing if a newer one was heard before, on another thread', async () => {
    const world = new World();
    await world.hear(written('@veil-bot welcome', { by: 'octo', second: 20 }));
    await world.hear(written('@veil-bot stop', { by: 'octo', second: 10 }));
    expect(world.words[WHOLE]).toBe('welcome');
    expect(world.done).toHaveLength(1);
  });

  it('is asked about once, where the host does not say who has written it', async () => {
    const world = new World();
    const forged = written('@veil-bot stop', { by: 'eve', association: null });
    await world.hear(forged);
    await world.hear(forged);
    expect([world.asked, world.words]).toEqual([['eve'], {}]);
    world.lookedUp = 'owner';
    await world.hear(written('@veil-bot stop', { by: 'eve', association: null }));
    expect(world.words).toEqual({ [WHOLE]: 'stop' });
  });

  it('whose account is gone counts for nothing', async () => {
    const { comment: _, ...said } = written('@veil-bot stop', { by: 'octo' });
    const world = new World();
    await world.hear(said);
    expect(world.words).toEqual({});
  });

  it('and a review with the same number both count, the newest last', async () => {
    const world = new World();
    const welcome = written('@veil-bot welcome', { by: 'octo', second: 20 });
    const { id } = welcome.comment!;
    const review = { ...welcome, key: `review:${id}`, text: '@veil-bot stop', kind: 'reviewed' } as const;
    await world.hear({ ...review, at: new Date(30_000).toISOString() }, welcome);
    expect(world.words[WHOLE]).toBe('stop');
    expect(world.heardKeys).toEqual(new Set([`comment:${id}`, `review:${id}`]));
  });
});
