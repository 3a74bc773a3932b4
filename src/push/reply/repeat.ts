/** The command that pushes the same once more, with the same options. */
import type { PushRun } from '../push-run.ts';
import type { Pushed } from '../push-hashes.ts';
import type { PushOptions } from '../receive/push-options.ts';
import { updateCommand } from './banner.ts';

/** @param prKey null: it needs none. @param more options besides those that it had. */
export function repeatCommand(
  { settings, target }: Pick<PushRun, 'settings' | 'target'>,
  { options, taken }: Pushed,
  { prHash, prKey }: { readonly prHash: string; readonly prKey: string | null },
  more: readonly string[] = [],
): string {
  const { signOff: isSignedOff, squash: isSquashed, base } = options;
  const { refName } = taken.command;
  const remoteUrl = settings.remoteUrl(target);
  return updateCommand({ prHash, prKey, isSignedOff, isSquashed, base, remoteUrl, refName }, [
    ...textOptions(options),
    ...more,
  ]);
}

function textOptions({ title, description, draft, publishNames }: PushOptions): string[] {
  return [
    ...(title === null ? [] : [`title=${title}`]),
    ...(description?.split('\n').map((line) => `description=${line}`) ?? []),
    ...(draft ? ['draft'] : []),
    ...(publishNames ? ['publish-names'] : []),
  ];
}
