/** Many people who comment at once, over connections that stay open. */
import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';

export class Commenters {
  readonly #agent: Agent;
  readonly #url: URL;
  readonly #atOnce: number;

  /** @param url of the thread's comments at the service. */
  constructor(url: string, atOnce: number) {
    this.#url = new URL(url);
    this.#atOnce = atOnce;
    this.#agent = new Agent({ keepAlive: true, maxSockets: atOnce });
  }

  /**
   * Posts so many comments, with the tokens in turn; milliseconds a comment. Rejects if one is not
   * posted.
   */
  async time(count: number, tokens: readonly string[]): Promise<number> {
    let next = 0;
    const began = process.hrtime.bigint();
    const one = async (): Promise<void> => {
      while (next < count) await this.#post(tokens[next++ % tokens.length] as string);
    };
    await Promise.all(Array.from({ length: this.#atOnce }, one));
    return Number(process.hrtime.bigint() - began) / 1e6 / count;
  }

  close(): void {
    this.#agent.destroy();
  }

  async #post(token: string): Promise<void> {
    const body = JSON.stringify({ body: 'It works here, too.', user_token: token });
    const headers = { 'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(body)) };
    const answer = await new Promise<{ status: number; body: string }>((resolve, reject) => {
      const sent = request(this.#url.href, { method: 'POST', agent: this.#agent, headers }, (response) => {
        text(response).then((all) => resolve({ status: response.statusCode ?? 0, body: all }), reject);
      });
      sent.on('error', reject);
      sent.end(body);
    });
    if (answer.status !== 200)
      throw new Error(`a comment was answered with ${answer.status}: ${answer.body}`);
  }
}
