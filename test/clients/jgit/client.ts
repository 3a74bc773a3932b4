/** JGit, the Git of Eclipse and Gerrit. Needs Java 17 or later, and Maven. */
import { join } from 'node:path';
import { pinned, prepare } from '../support/cache.ts';
import { programClient } from '../support/program-client.ts';

const POM = join(import.meta.dirname, 'pom.xml');
const PROGRAM = join(import.meta.dirname, 'Client.java');
const COPY_DEPENDENCIES = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies';

export const jgit = await prepare({
  name: 'JGit',
  sources: [POM, PROGRAM],
  steps: (folder) => [
    ['mvn', '--batch-mode', '--quiet', `--file=${POM}`, COPY_DEPENDENCIES, `-DoutputDirectory=${folder}`],
    ['javac', '--release', '17', '-cp', join(folder, '*'), '-d', folder, PROGRAM],
  ],
  client: (folder) =>
    programClient({
      name: 'JGit',
      version: pinned(POM, /org\.eclipse\.jgit<\/artifactId>\s*<version>(\d+\.\d+\.\d+)/),
      cannot: {},
      command: (home) => [
        'env',
        // JGit measures the file system's clock for some seconds and notes the result there: once
        // is enough.
        `XDG_CONFIG_HOME=${folder}`,
        'java',
        // Quick to start: each verb is a process.
        '-XX:TieredStopAtLevel=1',
        '-XX:+UseSerialGC',
        // Java asks the system for the home folder, and not HOME.
        `-Duser.home=${home}`,
        '-cp',
        `${folder}:${join(folder, '*')}`,
        'Client',
      ],
    }),
});
