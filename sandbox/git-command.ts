/**
 * Runs the real git for what the REST interface needs to know or change. The machine's own
 * configuration and the caller's GIT_ variables are kept out, so that the host behaves the same
 * everywhere.
 */
import { spawn } from 'node:child_process';

export interface GitResult {
  readonly code: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

export interface GitOptions {
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * Variables of this process. They are read once, because Node asks the system for each variable,
 * and a push starts a dozen programs.
 */
const ENVIRONMENT: NodeJS.ProcessEnv = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_'))),
  LC_ALL: 'C',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
};

/** Makes the environment for every git process of the host. */
export const gitEnvironment = (extra: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv => ({
  ...ENVIRONMENT,
  ...extra,
});

/** Runs one git command in a repository. The caller judges the exit code. */
export function runGit(
  repositoryPath: string,
  args: readonly string[],
  options: GitOptions = {},
): Promise<GitResult> {
  return new Promise((resolve, reject) => {
    const child = spawn('git', args, {
      cwd: repositoryPath,
      env: gitEnvironment({ GIT_DIR: repositoryPath, ...options.env }),
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
    // git may exit before it has read its input. Its exit code then says why.
    child.stdin.on('error', () => undefined);
    child.on('error', reject);
    child.on('close', (code) => {
      resolve({
        code: code ?? 1,
        stdout: Buffer.concat(stdout),
        stderr: Buffer.concat(stderr).toString(),
      });
    });
    child.stdin.end(options.input ?? '');
  });
}

/** Runs a git command that fails only if the host itself has a fault. */
export async function mustRunGit(
  repositoryPath: string,
  args: readonly string[],
  options: GitOptions = {},
): Promise<Buffer> {
  const result = await runGit(repositoryPath, args, options);
  if (result.code !== 0) throw new Error(`git ${args[0]} exited with ${result.code}: ${result.stderr}`);
  return result.stdout;
}
