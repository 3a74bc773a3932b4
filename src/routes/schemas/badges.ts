/** Badges (contract, 4.14 and 4.15). Their answers are images. */
import * as z from 'zod';
import { parseRepositoryName } from '../../host/repository-name.ts';

const NAME = z.string().meta({
  description: '1 to 100 letters, digits, `-`, `_` or `.`, without `..`.',
});

/** `owner` and `repo` as one repository's name. */
export const repositoryParams = z.object({ owner: NAME, repo: NAME }).transform(toRepositoryName);

export const anonymousFriendlyQuery = z.object({
  repo: z
    .string()
    .transform((text, context) => {
      const [owner = '', repo = '', ...more] = text.split('/');
      return toRepositoryName({ owner, repo: more.length === 0 ? repo : '' }, context);
    })
    .optional()
    .meta({ description: '`owner/repo`: the repository whose policy file counts.' }),
});

export const deployedQuery = z.object({
  commit: z
    .string()
    .optional()
    .meta({ description: 'The commit to show, shortened to 7 characters. Default: the deployed one.' }),
});

function toRepositoryName({ owner, repo }: { owner: string; repo: string }, context: z.RefinementCtx) {
  const repository = parseRepositoryName(owner, repo);
  if (repository !== null) return repository;
  context.addIssue('Invalid owner or repo');
  return z.NEVER;
}
