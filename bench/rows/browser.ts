/**
 * Measures a one-line change from a browser, in a large repository and in a small one: the form,
 * the preview of what becomes public, and the pull request. In the large one, the service must not
 * read more of the host, and for the form little more than the file. Bytes are counted, because
 * times would measure the host: its Git takes longer for the same answers from 20,000 commits.
 */
import { medians, type Row, row } from '../support/figures.ts';
import { fastImport } from '../support/fast-import.ts';
import { clientOf, git } from '../support/git.ts';
import { branchOfCommits, mainLine, manyFiles, manyFilesPath } from '../support/histories.ts';
import { emptyRepository } from '../support/repositories.ts';
import { type Rig, WARM_UP, withRig } from '../support/rig.ts';
import type { Workspace } from '../support/workspace.ts';

const ROUNDS = 15;
const MOST_TIMES = 1.2;
/** Most bytes for a form besides the file. */
const MOST_BYTES = 64 * 1024;

export async function browser(workspace: Workspace): Promise<Row[]> {
  return withRig(
    workspace,
    async (rig) => {
      const few = await changes(workspace, rig, { commits: 10, files: 10 });
      const many = await changes(workspace, rig, { commits: 20_000, files: 10_000 });
      const read = await medians(ROUNDS, { few: few.change, many: many.change });
      const { formBytes: bytes } = many;
      return [
        row({
          name: 'change by browser: bytes read, 20,000 commits and 10,000 files, against 10',
          value: read.many,
          reference: read.few,
          goal: MOST_TIMES,
          unit: 'B',
        }),
        row({
          name: 'change by browser: bytes read for the form, of 64 KiB',
          value: Math.max(...bytes),
          reference: MOST_BYTES,
          goal: 1,
          unit: 'B',
          note: `${Math.max(...few.formBytes)} B in the small repository`,
        }),
      ];
    },
    { countsBytes: true },
  );
}

interface Changes {
  /** Makes a change. Answers the bytes that the host has sent for it. */
  readonly change: (round: number) => Promise<number>;
  /** Bytes that the host has sent for each form. */
  readonly formBytes: readonly number[];
}

async function changes(
  workspace: Workspace,
  rig: Rig,
  { commits, files }: { readonly commits: number; readonly files: number },
): Promise<Changes> {
  const source = await emptyRepository(workspace.folder('browser'));
  await fastImport(source, history(commits, files));
  await git(source, ['repack', '-a', '-d', '--quiet']);
  const client = await clientOf(source, workspace.folder('browser-client'));
  await fastImport(client, branchOfCommits(WARM_UP, 1, 999_999));
  const { service } = await rig.repository(source, client);
  const formBytes: number[] = [];
  const change = async (round: number): Promise<number> => {
    const headers = { 'CF-Connecting-IP': rig.newAddress(), Accept: 'text/html' };
    const before = await rig.sentByHost();
    // The files are new to the service, and so is at least one folder in the large repository.
    const path = manyFilesPath((round * 613) % files);
    const form = await fields(await fetch(`${service}/change?path=${path}`, { headers }));
    formBytes.push((await rig.sentByHost()) - before);
    const text = `Line one\nLine by a browser ${round}\n`;
    const typed = { ...form, text, title: `Change ${path}`, description: '', step: 'preview' };
    const preview = await fields(await send(service, headers, typed));
    const answer = await send(service, headers, { ...preview, step: 'open' });
    const html = await answer.text();
    if (!html.includes('Your pull request is open')) throw new Error(`no pull request: ${html}`);
    return (await rig.sentByHost()) - before;
  };
  return { change, formBytes };
}

function* history(commits: number, files: number): Generator<string> {
  yield* mainLine(commits);
  yield* manyFiles(files);
}

function send(
  service: string,
  headers: Record<string, string>,
  form: Record<string, string>,
): Promise<Response> {
  return fetch(`${service}/change`, { method: 'POST', headers, body: new URLSearchParams(form) });
}

/** Reads the hidden fields of a form. They contain no characters that HTML escapes. */
async function fields(answer: Response): Promise<Record<string, string>> {
  const html = await answer.text();
  const found = html.matchAll(/<input\s+type="hidden"\s+name="([^"]*)"\s+value="([^"]*)"/g);
  const hidden = Object.fromEntries([...found].map(([, name = '', value = '']) => [name, value]));
  if (hidden['token'] === undefined) throw new Error(`no form: ${html}`);
  return hidden;
}
