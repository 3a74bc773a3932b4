/**
 * Permissions that an operator gives the service's GitHub App. deploy/github-app.json has the same.
 * Proved by test/local/app-check.test.ts.
 */
export const APP_PERMISSIONS: Readonly<Record<string, 'read' | 'write'>> = {
  contents: 'read',
  issues: 'write',
  metadata: 'read',
  pull_requests: 'write',
};
