/** Badges (contract, 4.14 and 4.15). Their answers are images. */
import * as z from 'zod';
import { MAIN_HOST } from '../../config/hosts.ts';

const NAME = z.string().meta({
  description: '1 to 100 letters, digits, `-`, `_` or `.`, without `..`.',
});
const HOST = z.string().meta({
  description: 'The key of the code host: `gh`, or one that the operator has added.',
  examples: [MAIN_HOST],
});

/** A repository of the first host. */
export const shortRepositoryParams = z.object({ owner: NAME, repo: NAME });
/** Which hosts there are, and what names they have, only the configuration tells. */
export const repositoryParams = z.object({ host: HOST, owner: NAME, repo: NAME });

export const anonymousFriendlyQuery = z.object({
  host: HOST.default(MAIN_HOST),
  repo: z.string().optional().meta({ description: '`owner/repo`: the repository whose policy file counts.' }),
});

export const deployedQuery = z.object({
  commit: z
    .string()
    .optional()
    .meta({ description: 'The commit to show, shortened to 7 characters. Default: the deployed one.' }),
});
