/**
 * Files at the tip of a repository's default branch, as the public reads them with Git. That costs none of the bot
 * account's calls of the REST interface: three or four small requests, one after the other, of which the folders are
 * remembered.
 */
import { decodeUtf8, utf8 } from '../git/bytes.ts';
import type { Memory } from '../git/memory.ts';
import { entryNamed, kindOf } from '../git/objects/tree.ts';
import type { FileAnswer } from '../host/code-host.ts';
import type { GitTransport } from '../host/git/git-transport.ts';
import type { RepositoryName } from '../repository-name.ts';
import { findPath, type Folder, heldReads, readBlob, readCommit } from '../upstream/tree-reader.ts';
import type { FilesHost } from './community-files.ts';

const MAX_FILE_BYTES = 256 * 1024;

/**
 * Rejects, also in its methods, with what the transport rejects with, and with an Error for what the REST interface has to
 * be asked for: a folder that is too large, a symbolic link.
 * @param memory where what is read stays counted. @throws HostError, `missing` if the public sees no such repository;
 * ProtocolError if the host does not send what was asked for.
 */
export async function publicFiles(
  transport: Pick<GitTransport, 'listRefs' | 'readObjects'>,
  memory: Memory,
  repository: RepositoryName,
): Promise<FilesHost> {
  const { headTip } = await transport.listRefs(repository, ['HEAD'], 'upstream');
  if (headTip === null) return { list: async () => [], file: async () => ({ kind: 'missing' }) };
  const read = heldReads((request, most) => transport.readObjects(repository, request, most), memory);
  const { tree } = await readCommit(read, headTip);
  const root = await folderOf(tree);
  const known = new Map([['', Promise.resolve(root)]]);

  async function folderOf(oid: string): Promise<Folder> {
    const found = await findPath(read, oid, []);
    if (found.kind !== 'folder') throw new Error('a folder is too large');
    return found.folders.at(-1) ?? [];
  }

  /** Of the root, and of those in it. */
  function folder(name: string): Promise<Folder> {
    const entry = entryNamed(root, utf8(name));
    const isFolder = entry !== undefined && kindOf(entry) === 'folder';
    const reading = known.get(name) ?? (isFolder ? folderOf(entry.oid) : Promise.resolve([]));
    known.set(name, reading);
    return reading;
  }

  return {
    async list(name) {
      return (await folder(name)).flatMap((entry) => {
        const text = decodeUtf8(entry.name);
        return text === null ? [] : kindOf(entry) === 'folder' ? `${text}/` : text;
      });
    },
    async file(path): Promise<FileAnswer> {
      const slash = path.lastIndexOf('/');
      const entry = entryNamed(await folder(path.slice(0, Math.max(0, slash))), utf8(path.slice(slash + 1)));
      if (entry === undefined) return { kind: 'missing' };
      const kind = kindOf(entry);
      if (kind === 'symlink') throw new Error('a file is a symbolic link');
      const content = kind === 'file' ? await readBlob(read, entry.oid, MAX_FILE_BYTES) : null;
      return content === null ? { kind: 'unreadable' } : { kind: 'file', content };
    },
  };
}
