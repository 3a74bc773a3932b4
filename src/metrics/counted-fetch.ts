/** Requests to other services, counted by status and timed until the answer begins. */
import type { Http } from '../outgoing/http-client.ts';
import { count, observe } from './tally.ts';

/** `rest`, `git`: the code host's two interfaces. `notifications`: the notification service. */
export type OutgoingService = 'rest' | 'git' | 'notifications';

export function countedFetch(service: OutgoingService, http: Http): Http['fetch'] {
  return async (input, init) => {
    const startedAt = Date.now();
    let status = 'none';
    try {
      const response = await http.fetch(input, init);
      status = String(response.status);
      return response;
    } finally {
      count('gitveil_outgoing_requests_total', { service, status });
      observe('gitveil_outgoing_request_duration_seconds', { service }, (Date.now() - startedAt) / 1000);
    }
  };
}
