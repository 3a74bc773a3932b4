/**
 * One Chromium for all test files of a run, started when the first of them asks: a start takes more
 * than most tests.
 */
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BrowserServer } from 'playwright-core';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Answers with the address to connect to. */
    chromiumUrl: string;
  }
}

/** The first has no window at all, and takes half the processor time of the others. */
const PLACES = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];

/** Undefined: there is none on this machine. */
export const executablePath = [process.env['CHROMIUM'] ?? '', ...PLACES].find((place) => existsSync(place));

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  let started: Promise<BrowserServer> | null = null;
  const server = createServer((_, response) => {
    started ??= start();
    started.then(
      (browser) => response.end(browser.wsEndpoint()),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  project.provide('chromiumUrl', `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return async () => {
    server.close();
    await (await started?.catch(() => null))?.close();
  };
}

/** Loads the program's library only now: most runs of single files need neither. */
async function start(): Promise<BrowserServer> {
  const { chromium } = await import('playwright-core');
  return chromium.launchServer({
    ...(executablePath !== undefined && { executablePath }),
    host: '127.0.0.1',
    // Nothing here is drawn in three dimensions.
    args: [
      '--no-sandbox',
      '--disable-dev-shm-usage',
      '--disable-gpu',
      '--disable-software-rasterizer',
      '--in-process-gpu',
    ],
  });
}
