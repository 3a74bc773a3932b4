/**
 * Sends HTTP to a Worker that listens on a Unix socket, which no other user of the machine can
 * reach.
 */
import { request } from 'node:http';
import { text } from 'node:stream/consumers';

export interface Answer {
  readonly status: number;
  readonly body: string;
}

export function post(socketPath: string, body: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const call = request({ socketPath, method: 'POST', agent: false }, (response) => {
      text(response).then((answer) => resolve({ status: response.statusCode ?? 0, body: answer }), reject);
    });
    call.once('error', reject);
    call.end(body);
  });
}
