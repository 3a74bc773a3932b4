/** Reads of a long thread: the old comments that somebody edits hide no new ones. */
import { expect, it } from 'vitest';
import { openActivity } from '../../../src/host/open.ts';
import { ACCOUNT } from '../support/back-off.ts';
import { API, json, PatientClock, ScriptedHost } from '../support/scripted-host.ts';

const REPOSITORY = { owner: 'octo', name: 'hello' };
const SINCE = Date.parse('2026-11-22T12:00:00Z');
const [BEFORE, AT, LATER] = ['2026-11-20T12:00:00Z', '2026-11-22T12:00:00Z', '2026-11-22T12:00:01Z'];
const PER_PAGE = 100;

interface Listed {
  readonly created_at: string;
  readonly body: string;
}

/** Reads a thread with these comments. */
async function read(comments: readonly Listed[]) {
  const host = new ScriptedHost(({ path }) => {
    const at = PER_PAGE * (Number(/&page=(\d+)/.exec(path)?.[1] ?? 1) - 1);
    const page = comments.slice(at, at + PER_PAGE).map(({ created_at, body }, index) => ({
      id: at + index + 1,
      user: { id: 7, login: 'mona' },
      html_url: 'https://host.test/c/1',
      created_at,
      updated_at: LATER,
      body,
    }));
    const link = at + PER_PAGE < comments.length ? `<${API}/next>; rel="next"` : '';
    return json(200, page, { link });
  });
  const access = { kind: 'github', apiUrl: API, token: 'secret', ...ACCOUNT } as const;
  const activity = openActivity({ ...access, http: host, clock: new PatientClock() }, () => {});
  const { remarks, readTo } = (await activity.comments(REPOSITORY, 3, SINCE))!;
  return { keys: remarks.map(({ key }) => key), readTo, calls: host.asked.length };
}

const listed = (created_at: string, body = '') => ({ created_at, body });
const many = (at: string) => Array.from({ length: 1_000 }, () => listed(at));

it('passes over old comments that were edited', async () => {
  const edited = Array.from({ length: 1_200 }, () => listed(BEFORE));
  const { keys, readTo } = await read([...edited, listed(LATER)]);
  expect({ keys, readTo }).toEqual({ keys: ['comment:1201'], readTo: null });
});

it('ends a read early where there is much to read, but not before it gets on', async () => {
  expect(await read(many(LATER).concat(many(LATER)))).toMatchObject({ readTo: Date.parse(LATER), calls: 10 });
  expect(await read(many(AT).concat(many(LATER)))).toMatchObject({ readTo: Date.parse(LATER), calls: 11 });
});

it('holds the texts of some hundred long comments at most', async () => {
  const long = Array.from({ length: 300 }, () => listed(LATER, 'a'.repeat(65_536)));
  expect(await read(long)).toMatchObject({ readTo: Date.parse(LATER), calls: 1 });
});
