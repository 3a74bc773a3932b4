/**
 * Reads a repository's templates for issues with Git, with few requests, and caches them like its
 * `.gitveil.yml`.
 * Proved by test/e2e/host/host-addresses.test.ts and test/e2e/people/issue-form.test.ts.
 */
import { recordName } from '../../config/hosts.ts';
import { decodeUtf8 } from '../../git/bytes.ts';
import { kindOf, parseTree } from '../../git/objects/tree.ts';
import { openLastKnown } from '../../isolate/last-known.ts';
import { type IssueTemplates, NO_TEMPLATES, readIssueTemplates } from '../../policy/issue-templates.ts';
import { findPath } from '../../upstream/tree-reader.ts';
import { pushHost } from '../../service/open-push.ts';
import { mayRead } from '../request/reading.ts';
import { type ChangeSource, openSource } from './change/source.ts';
import type { RequestedForm } from './form.ts';
import { hostScopeOf } from '../request/scope.ts';

const FOLDER = ['.github', 'ISSUE_TEMPLATE'];
const FRESH_MS = 5 * 60_000;
/** How long to wait: the form without them asks for less than its maintainers want. */
const PATIENCE_MS = 10_000;
/** The size from which a file is left out, and that of all together. */
const MOST_BYTES = 64 * 1024;
const MOST_BYTES_OF_ALL = 512 * 1024;
/** The largest listing of all folders that is read at once: some 3,000 files. */
const MOST_FOLDERS_BYTES = 128 * 1024;

/**
 * Reads the templates.
 * @returns null if they cannot be read now. Never rejects.
 */
export async function issueTemplates({ c, target }: RequestedForm): Promise<IssueTemplates | null> {
  const lastKnown = openLastKnown(c.env, c.var.config, (error) =>
    c.var.logger.warn('the templates of a repository cannot be read', { error }),
  );
  const templates = await lastKnown.read<IssueTemplates>({
    name: `templates-for-issues/${recordName(c.var.host, target).toLowerCase()}`,
    freshMs: FRESH_MS,
    nothing: NO_TEMPLATES,
    patienceMs: PATIENCE_MS,
    async ask() {
      if (!(await mayRead(c))) throw new Error('the client has asked too often');
      const host = pushHost(hostScopeOf(c));
      try {
        const source = await openSource(c, host, target, '');
        return source.kind === 'refused' ? NO_TEMPLATES : readIssueTemplates(await filesOf(source));
      } finally {
        host.memory.end();
      }
    },
  });
  return templates ?? null;
}

/** Reads the texts of the folder, by the names of their files. */
async function filesOf({ read, root }: ChangeSource): Promise<[name: string, text: string][]> {
  // Small repositories give all folders in one call; others are read level by level.
  const all = await read({ wants: [root], withFolders: true }, MOST_FOLDERS_BYTES);
  const [parent, name] = [FOLDER.slice(0, -1), FOLDER.at(-1)];
  const found = await findPath(all === null ? read : async () => all, root, parent);
  const above = found.kind === 'folder' ? (found.folders.at(-1) ?? []) : [];
  const folder = above.find((entry) => kindOf(entry) === 'folder' && decodeUtf8(entry.name) === name);
  if (folder === undefined) return [];
  const objects = await read({ wants: [folder.oid], filesBelowBytes: MOST_BYTES }, MOST_BYTES_OF_ALL);
  const tree = objects?.get(folder.oid);
  if (tree === undefined) throw new Error('the templates are too large together');
  return parseTree(tree.content).flatMap((entry): [string, string][] => {
    const file = objects?.get(entry.oid);
    if (kindOf(entry) !== 'file' || file?.type !== 'blob') return [];
    const [fileName, text] = [decodeUtf8(entry.name), decodeUtf8(file.content)];
    return fileName === null || text === null ? [] : [[fileName, text]];
  });
}
