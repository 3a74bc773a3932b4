/** The text form, read by the one program that must understand it. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Embed, capnp } from '../../local/runtime/capnp.ts';

const { default: workerd } = createRequire(import.meta.url)('workerd') as { default: string };

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gitveil-test-'));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

it('writes structures, lists, and leaves out what is undefined', () => {
  const value = { name: 'a', writable: true, list: ['b', { c: new Embed('d.js') }], none: undefined };
  expect(capnp(value)).toBe('(name = "a", writable = true, list = ["b", (c = embed "d.js")])');
});

it('writes texts that workerd reads as they are', () => {
  const text = 'quotes " and \', \\ \\n, \n\r\t\0\x7f, Grüße, 🦀';
  writeFileSync(join(folder, 'embedded.txt'), text);
  const test = `export default { test(_, { inline, embedded }) {
    if (inline !== ${JSON.stringify(text)} || embedded !== inline) throw new Error(JSON.stringify([inline, embedded]));
  } };`;
  const worker = {
    compatibilityDate: '2026-11-01',
    modules: [{ name: 'test.js', esModule: test }],
    bindings: [
      { name: 'inline', text },
      { name: 'embedded', text: new Embed('embedded.txt') },
    ],
  };
  const config = capnp({ services: [{ name: 'test', worker }] });
  const file = join(folder, 'test.capnp');
  writeFileSync(
    file,
    `using Workerd = import "/workerd/workerd.capnp";\nconst config :Workerd.Config = ${config};\n`,
  );
  execFileSync(workerd, ['test', file], { stdio: 'pipe' });
});
