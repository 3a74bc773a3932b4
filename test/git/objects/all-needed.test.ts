/** Whether a pack holds more than its branch needs. */
import { describe, expect, it } from 'vitest';
import { areAllNeeded } from '../../../src/git/objects/all-needed.ts';
import { type KnownHistory, traceNewCommits } from '../../../src/git/objects/new-commits.ts';
import type { KeptObject } from '../../../src/git/pack/kept-objects.ts';
import { commitContent, oidNumber, tagContent } from '../../support/objects.ts';
import { storeOf } from '../../support/new-commits.ts';
import { oidOf } from '../../support/pack-builder.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const UPSTREAM = oidNumber(1);
const BOUNDARY = oidNumber(2);

/** Commits and tags by name. */
class Pack {
  readonly kept = new Map<string, KeptObject>();

  commit(name: string, ...parents: string[]): string {
    return this.#add('commit', commitContent({ parents, message: name }));
  }

  tag(target: string): string {
    return this.#add('tag', tagContent(target));
  }

  #add(type: 'commit' | 'tag', content: Uint8Array): string {
    const oid = oidOf(type, content);
    this.kept.set(oid, { type, oid, content });
    return oid;
  }

  needsAll(tip: string, otherTips: readonly string[] = [], known: readonly string[] = [UPSTREAM, BOUNDARY]) {
    const history: KnownHistory = {
      since: -Infinity,
      othersSince: -Infinity,
      isListed: (oid) => known.includes(oid),
      isKnown: (oid) => known.includes(oid),
    };
    const trace = traceNewCommits(
      tip,
      storeOf((oid) => this.kept.get(oid)?.content),
      history,
    );
    if (trace.kind !== 'complete') throw new Error(trace.kind);
    const { size } = this.kept;
    const all = [...this.kept.values()];
    const objects = function* () {
      yield* all;
    };
    const kept = { size, objects };
    return areAllNeeded(kept, trace.commits, trace.boundary, otherTips, history);
  }
}

describe('areAllNeeded', () => {
  it('needs all commits of the branch', () => {
    const pack = new Pack();
    const tip = pack.commit('b', pack.commit('a', UPSTREAM));
    expect(pack.needsAll(tip)).toBe(true);
  });

  it('needs no commit that the branch does not reach', () => {
    const pack = new Pack();
    const tip = pack.commit('mine', UPSTREAM);
    const draft = pack.commit('draft', UPSTREAM);
    expect(pack.needsAll(tip)).toBe(false);
    expect(pack.needsAll(tip, [draft])).toBe(false);
  });

  it('knows upstream’s commits, and with them all that they stand on', () => {
    const pack = new Pack();
    const root = pack.commit('root');
    const old = pack.commit('old', root);
    const listed = pack.commit('listed', old);
    const tip = pack.commit('mine', listed);
    expect(pack.needsAll(tip, [], [listed])).toBe(true);
    expect(pack.needsAll(tip, [old, root], [listed])).toBe(true);
  });

  it('knows upstream’s commits also where the branch does not reach them', () => {
    const pack = new Pack();
    const other = pack.commit('other', pack.commit('below'));
    const tip = pack.commit('mine', UPSTREAM);
    expect(pack.needsAll(tip, [], [UPSTREAM, other])).toBe(true);
    expect(pack.needsAll(tip, [], [UPSTREAM])).toBe(false);
  });

  it('lets tags be that point at what is needed, through however many tags', () => {
    const pack = new Pack();
    const tip = pack.commit('b', pack.commit('a', UPSTREAM));
    const chain = pack.tag(pack.tag(tip));
    expect(pack.needsAll(tip, [chain, pack.tag(BOUNDARY)])).toBe(true);
  });

  it.each([
    ['a commit that is not needed', (pack: Pack) => pack.commit('draft', UPSTREAM)],
    ['an object that was not seen, such as a file or a commit in a delta', () => oidNumber(9)],
  ])('does not let tags be that point at %s', (_, target) => {
    const pack = new Pack();
    const tip = pack.commit('mine', UPSTREAM);
    pack.tag(target(pack));
    expect(pack.needsAll(tip)).toBe(false);
  });

  it('takes no longer for each tag of a tag than for the one before', exhaustive, () => {
    const pack = new Pack();
    const tip = pack.commit('mine', UPSTREAM);
    let tag = pack.tag(tip);
    for (let count = 1; count < 15_000; count++) tag = pack.tag(tag);
    expect(pack.needsAll(tip, [tag])).toBe(true);
  });

  it('does not let a tag be that names nothing', () => {
    const pack = new Pack();
    const tip = pack.commit('mine', UPSTREAM);
    const content = Buffer.from('type commit\ntag v1\n');
    pack.kept.set('tag', { type: 'tag', oid: oidOf('tag', content), content });
    expect(pack.needsAll(tip)).toBe(false);
  });

  it.each([
    ['a commit of the branch', (tip: string) => tip, true],
    ['a commit of upstream’s', () => UPSTREAM, true],
    ['anything else', () => oidNumber(9), false],
  ])('lets another ref point at %s: %s', (_, other, isNeeded) => {
    const pack = new Pack();
    const tip = pack.commit('b', pack.commit('a', UPSTREAM));
    expect(pack.needsAll(tip, [other(tip)])).toBe(isNeeded);
  });
});
