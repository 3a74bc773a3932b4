/**
 * Reads a repository's templates for issues with Git, and caches them like its `.gitveil.yml`.
 * Files that a template names are not read.
 * Proved by test/e2e/host/host-addresses.test.ts.
 */
import { recordName } from '../../config/hosts.ts';
import { decodeUtf8 } from '../../git/bytes.ts';
import { kindOf } from '../../git/objects/tree.ts';
import { openLastKnown } from '../../isolate/last-known.ts';
import { readYaml } from '../../policy/policy.ts';
import { findPath, readBlob } from '../../upstream/tree-reader.ts';
import { pushHost } from '../../service/open-push.ts';
import { refuseTooMany } from '../request/limits.ts';
import { openSource, type ChangeSource } from './change/source.ts';
import type { RequestedForm } from './form.ts';
import { hostScopeOf } from '../request/scope.ts';

const FOLDER = ['.github', 'ISSUE_TEMPLATE'];
const FRESH_MS = 5 * 60_000;
/** How many templates are offered. */
const MOST = 20;
const MOST_BYTES = 64 * 1024;
/** The largest listing of all folders that is read at once: some 3,000 files. */
const MOST_FOLDERS_BYTES = 128 * 1024;
const MOST_HEADER_CHARACTERS = 4_000;

/** `labels`: names separated by commas. */
type IssueTemplate = Readonly<Record<'title' | 'labels' | 'body', string>>;

/** Lists the names of the templates' files; none if they cannot be read. Never rejects. */
export async function issueTemplates(place: RequestedForm): Promise<readonly string[]> {
  const names = await read(place, 'issue-templates', async (source) => {
    // Small repositories give all folders in one call; others are read level by level.
    const all = await source.read({ wants: [source.root], withFolders: true }, MOST_FOLDERS_BYTES);
    const found = await findPath(all === null ? source.read : async () => all, source.root, FOLDER);
    const files = found.kind === 'folder' ? (found.folders.at(-1) ?? []) : [];
    const named = files
      .filter((entry) => kindOf(entry) === 'file')
      .map(({ name }) => decodeUtf8(name) ?? '')
      .filter((name) => /\.md$/i.test(name));
    return named.length === 0 ? null : named.slice(0, MOST);
  });
  return names ?? [];
}

/** Reads a template; null if there is none of this name, or if it cannot be read. Never rejects. */
export async function issueTemplate(place: RequestedForm, name: string): Promise<IssueTemplate | null> {
  if (!(await issueTemplates(place)).includes(name)) return null;
  const text = await read(place, `issue-template/${name}`, async (source) => {
    const found = await findPath(source.read, source.root, [...FOLDER, name]);
    const content = found.kind === 'file' ? await readBlob(source.read, found.blob, MOST_BYTES) : null;
    return content === null ? null : decodeUtf8(content);
  });
  return text ? parsed(text.replaceAll('\r\n', '\n')) : null;
}

function read<T>(
  { c, target }: RequestedForm,
  what: string,
  ask: (source: ChangeSource) => Promise<T | null>,
) {
  const lastKnown = openLastKnown(c.env, c.var.config, (error) =>
    c.var.logger.warn('the templates of a repository cannot be read', { error }),
  );
  return lastKnown.read<T | null>({
    name: `${what}/${recordName(c.var.host, target).toLowerCase()}`,
    freshMs: FRESH_MS,
    nothing: null,
    async ask() {
      if ((await refuseTooMany(c, 'discoveries')) !== null) throw new Error('the client has asked too often');
      const host = pushHost(hostScopeOf(c));
      try {
        const source = await openSource(c, host, target, '');
        return source.kind === 'refused' ? null : await ask(source);
      } finally {
        host.memory.end();
      }
    },
  });
}

/** Parses a template, which may begin with YAML between two lines of dashes. */
function parsed(text: string): IssueTemplate {
  const end = text.startsWith('---\n') ? text.slice(0, MOST_HEADER_CHARACTERS).indexOf('\n---\n', 3) : -1;
  if (end < 0) return { title: '', labels: '', body: text };
  const body = text.slice(end + '\n---\n'.length).trimStart();
  let fields: Record<string, unknown> | null = null;
  try {
    fields = readYaml(text.slice('---\n'.length, end + 1)) as typeof fields;
  } catch {
    // Invalid YAML counts as no fields: the text below it can be used all the same.
  }
  const labels = [fields?.['labels']].flat().filter((label) => typeof label === 'string');
  const title = fields?.['title'];
  return { title: typeof title === 'string' ? title : '', labels: labels.join(', '), body };
}
