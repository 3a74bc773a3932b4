/** In place of `@octokit/graphql`, which nobody calls here. */
export const withCustomRequest = () => ({ defaults: () => null });
