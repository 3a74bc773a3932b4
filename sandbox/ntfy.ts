/**
 * Push-notification topics under `/ntfy`, compatible with ntfy: messages are published by POST or
 * PUT and read by polling. Messages are kept for twelve hours, as ntfy's cache does. Streaming
 * subscriptions are not offered.
 */
import { randomBytes } from 'node:crypto';
import type { Host } from './host.ts';
import type { WholeRequest } from './http-server.ts';
import type { NtfyContent } from './ntfy-message.ts';
import { NtfyRefusal, parseJsonMessage, parseTextMessage, requireTopic } from './ntfy-message.ts';
import type { NtfyMessage } from './records.ts';
import type { Answer } from './rest/api-call.ts';
import { json } from './rest/api-call.ts';

const KEPT_SECONDS = 12 * 60 * 60;
const BASE = /^\/ntfy(?:\/([^/]*))?(\/json)?\/?$/;
const DURATION = /^(\d+)(s|m|h|d)$/;
const SECONDS = { s: 1, m: 60, h: 3600, d: 86_400 };

export class Ntfy {
  readonly #host: Host;

  constructor(host: Host) {
    this.#host = host;
  }

  /** Whether the request is for a program. A person who opens a topic gets a page. */
  matches(method: string, path: string): boolean {
    const [found, , poll] = BASE.exec(path) ?? [];
    return found !== undefined && (poll !== undefined || method === 'POST' || method === 'PUT');
  }

  handle(request: WholeRequest): Answer {
    try {
      return this.#answer(request);
    } catch (error) {
      if (!(error instanceof NtfyRefusal)) throw error;
      return json(error.status, { code: error.code, http: error.status, error: error.message });
    }
  }

  /** Lists the messages of a topic that have not expired, oldest first. */
  messages(topic: string): NtfyMessage[] {
    const now = this.#now();
    return this.#host.store.records.messages.filter(
      (message) => message.topic === topic && message.expires > now,
    );
  }

  #answer(request: WholeRequest): Answer {
    const url = new URL(request.url);
    const [, topic = '', poll] = BASE.exec(url.pathname) ?? [];
    if (poll !== undefined) return this.#poll(topic, url.searchParams);
    if (topic === '') {
      const { topic: named, content } = parseJsonMessage(request.body);
      return json(200, this.#publish(named, content));
    }
    return json(200, this.#publish(requireTopic(topic), parseTextMessage(request.body)));
  }

  #publish(topic: string, content: NtfyContent): NtfyMessage {
    const { records } = this.#host.store;
    const now = this.#now();
    const message: NtfyMessage = {
      id: randomBytes(9).toString('base64url').replaceAll(/[-_]/g, '0'),
      time: now,
      expires: now + KEPT_SECONDS,
      event: 'message',
      topic,
      ...content,
    };
    const kept = records.messages.findIndex((earlier) => earlier.expires > now);
    records.messages.splice(0, kept < 0 ? records.messages.length : kept);
    records.messages.push(message);
    this.#host.store.changed();
    return message;
  }

  /** Answers a poll, whose path names one topic or several, with commas between them. */
  #poll(topics: string, query: URLSearchParams): Answer {
    if (!['1', 'true', 'yes'].includes((query.get('poll') ?? '').toLowerCase())) {
      throw new NtfyRefusal(40000, 'only polling is supported here: add ?poll=1');
    }
    const names = topics.split(',').map(requireTopic);
    const messages = names.flatMap((name) => this.messages(name)).toSorted((a, b) => a.time - b.time);
    const lines = this.#since(messages, query.get('since') ?? 'all').map((message) =>
      JSON.stringify(message),
    );
    return {
      status: 200,
      headers: { 'content-type': 'application/x-ndjson; charset=utf-8' },
      body: lines.map((line) => `${line}\n`).join(''),
    };
  }

  /**
   * Selects messages.
   * @param since a message's id, a Unix time, a duration, `all` or `none`.
   */
  #since(messages: readonly NtfyMessage[], since: string): readonly NtfyMessage[] {
    if (since === 'all') return messages;
    if (since === 'none') return [];
    const [, amount, unit] = DURATION.exec(since) ?? [];
    if (amount !== undefined) {
      const earliest = this.#now() - Number(amount) * SECONDS[unit as keyof typeof SECONDS];
      return messages.filter((message) => message.time >= earliest);
    }
    if (/^\d+$/.test(since)) return messages.filter((message) => message.time >= Number(since));
    if (!/^[A-Za-z0-9]{12}$/.test(since)) throw new NtfyRefusal(40008, 'invalid since parameter');
    const index = messages.findIndex((message) => message.id === since);
    return messages.slice(index + 1);
  }

  #now(): number {
    return Math.floor(this.#host.now().getTime() / 1000);
  }
}
