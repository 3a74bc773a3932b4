/**
 * Clients around a Python library, each in a virtual environment of its own. Needs Python with venv
 * and pip.
 */
import { join } from 'node:path';
import { pinned, prepare } from './cache.ts';
import type { GitClient, Prepared } from './client.ts';
import { programClient } from './program-client.ts';

export interface PythonClient {
  readonly name: string;
  /** As `requirements.txt` names it. */
  readonly distribution: string;
  /** The folder of `client.py` and `requirements.txt`. */
  readonly folder: string;
  readonly cannot?: GitClient['cannot'];
}

export function preparePython({ name, distribution, folder, cannot = {} }: PythonClient): Promise<Prepared> {
  const requirements = join(folder, 'requirements.txt');
  const version = pinned(requirements, new RegExp(`^${distribution}==(.+)$`, 'm'));
  return prepare({
    name,
    sources: [requirements],
    steps: (target) => [
      ['python3', '-m', 'venv', target],
      [join(target, 'bin/python'), '-m', 'pip', 'install', '--quiet', '--requirement', requirements],
    ],
    client: (built) =>
      programClient({
        name,
        version,
        cannot,
        command: () => [join(built, 'bin/python'), join(folder, 'client.py')],
      }),
  });
}
