/**
 * Reads a published message as ntfy's documentation ("Publishing") describes it: a text, or one
 * JSON object. A message that ntfy would refuse is refused with ntfy's number and words.
 */
import type { NtfyAction, NtfyMessage } from './records.ts';

/** The parts of a message that the sender chooses. */
export type NtfyContent = Omit<NtfyMessage, 'id' | 'time' | 'expires' | 'event' | 'topic'>;

export class NtfyRefusal extends Error {
  readonly status: number;
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
    // ntfy's codes begin with their HTTP status.
    this.status = Math.floor(code / 100);
  }
}

const TOPIC = /^[-_A-Za-z0-9]{1,64}$/;
const MAX_MESSAGE_BYTES = 4096;
const MAX_ACTIONS = 3;
const EMPTY_MESSAGE = 'triggered';
const PRIORITIES = new Map([
  ...['1', '2', '3', '4', '5'].map((digit): [string, number] => [digit, Number(digit)]),
  ['min', 1],
  ['low', 2],
  ['default', 3],
  ['high', 4],
  ['max', 5],
  ['urgent', 5],
]);

export function requireTopic(topic: unknown): string {
  if (typeof topic !== 'string' || !TOPIC.test(topic)) {
    throw new NtfyRefusal(40009, 'invalid request: topic invalid');
  }
  return topic;
}

/** Reads a message whose text is the body. */
export function parseTextMessage(body: Buffer): NtfyContent {
  return checkedContent({ message: body.toString() });
}

/** Reads a message that is one JSON object, which names its topic itself. */
export function parseJsonMessage(body: Buffer): { topic: string; content: NtfyContent } {
  let message: Record<string, unknown>;
  try {
    message = { ...(JSON.parse(body.toString()) as object) };
  } catch {
    throw new NtfyRefusal(40017, 'invalid request: request body must be message JSON');
  }
  return { topic: requireTopic(message['topic']), content: checkedContent(message) };
}

function checkedContent(wanted: Record<string, unknown>): NtfyContent {
  const { title, click, tags, actions } = wanted;
  const message = textOf(wanted['message']) || EMPTY_MESSAGE;
  // ntfy turns a longer one into an attachment, or refuses it where attachments are off, as here.
  if (Buffer.byteLength(message) > MAX_MESSAGE_BYTES) {
    throw new NtfyRefusal(40014, 'invalid request: attachments not allowed');
  }
  const priority = checkedPriority(wanted['priority']);
  return {
    message,
    ...(textOf(title) !== '' && { title: textOf(title) }),
    ...(priority !== undefined && { priority }),
    ...(Array.isArray(tags) && tags.length > 0 && { tags: tags.map(textOf) }),
    ...(textOf(click) !== '' && { click: textOf(click) }),
    ...(Array.isArray(actions) && actions.length > 0 && { actions: checkedActions(actions) }),
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function checkedPriority(wanted: unknown): number | undefined {
  if (wanted === undefined || wanted === '' || wanted === 0) return undefined;
  const priority = PRIORITIES.get(typeof wanted === 'number' ? String(wanted) : textOf(wanted).toLowerCase());
  if (priority === undefined) throw new NtfyRefusal(40007, 'invalid priority parameter');
  return priority;
}

function checkedActions(wanted: readonly unknown[]): NtfyAction[] {
  if (wanted.length > MAX_ACTIONS) throw actionsInvalid(`only ${MAX_ACTIONS} actions allowed`);
  return wanted.map((value) => {
    const fields = { ...(value as Record<string, unknown>) };
    const action = textOf(fields['action']).toLowerCase();
    if (!['view', 'broadcast', 'http'].includes(action)) throw actionsInvalid(`action '${action}' unknown`);
    const label = textOf(fields['label']);
    if (label === '') throw actionsInvalid("parameter 'label' is required");
    if (action !== 'broadcast' && textOf(fields['url']) === '') {
      throw actionsInvalid(`parameter 'url' is required for action '${action}'`);
    }
    const method = textOf(fields['method']).toUpperCase();
    return { ...fields, id: randomActionId(), action, label, ...(method !== '' && { method }) };
  });
}

function actionsInvalid(reason: string): NtfyRefusal {
  return new NtfyRefusal(40018, `invalid request: actions invalid, ${reason}`);
}

function randomActionId(): string {
  return crypto.randomUUID().replaceAll('-', '').slice(0, 10);
}
