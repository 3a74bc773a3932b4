/** Accounts: that of the token, and any by name. */
import type { ApiCall } from './api-call.ts';
import { json, notFound, requireViewer } from './api-call.ts';
import { fullUser, privateUser } from './render-user.ts';
import type { Route } from './route.ts';

export const userRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/user',
    documentation: 'users/users#get-the-authenticated-user',
    handle: (call: ApiCall) => json(200, privateUser(call.host, requireViewer(call))),
  },
  {
    method: 'GET',
    path: '/users/:username',
    documentation: 'users/users#get-a-user',
    handle: (call: ApiCall) => {
      const user = call.host.store.findUser(call.params['username'] ?? '');
      if (!user) throw notFound();
      return json(200, fullUser(call.host, user));
    },
  },
];
