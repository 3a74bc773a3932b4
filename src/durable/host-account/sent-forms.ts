/**
 * The forms of issues and replies that were sent to the account's code host, so that each posts once: a form that is
 * sent again, by a double click or by reloading the page, gets the answer of the first time.
 *
 * A form is stored before the host is asked. So one that was sent before a restart is known after it, but not whether
 * its answer was lost. Cost: two writes for each form that posts; a row lasts as long as its form is valid.
 */
import { FORM_LIFE_MS } from '../../secret/form-token.ts';
import { isAhead } from '../../limits/sliding-window.ts';

/** Longer than posting usually takes. A form that is silent for longer has died with its request. */
const SENDING_MS = 60_000;

/** What a form has posted. */
export interface PostedByForm {
  readonly url: string;
  /** Of the thread. */
  readonly number: number;
}

export type FormStanding =
  /** It was not sent before: whoever asks may post it now. */
  | { readonly kind: 'new' }
  /** Another request is posting it. */
  | { readonly kind: 'sending' }
  | { readonly kind: 'posted'; readonly posted: PostedByForm }
  /** It was sent, and nobody knows whether the host has posted it. */
  | { readonly kind: 'unknown' };

export type FormResult = Exclude<FormStanding, { kind: 'sending' }>;

interface FormRow extends Record<string, SqlStorageValue> {
  sending_until: number;
  url: string | null;
  number: number | null;
}

export class SentForms {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    sql.exec(`CREATE TABLE IF NOT EXISTS sent_forms (
      form TEXT PRIMARY KEY, until INTEGER NOT NULL, sending_until INTEGER NOT NULL, url TEXT, number INTEGER
    ) WITHOUT ROWID`);
    sql.exec('CREATE INDEX IF NOT EXISTS sent_forms_until ON sent_forms (until)');
  }

  /** @param form a keyed hash of the form. @param now milliseconds since 1970. */
  begin(form: string, now: number): FormStanding {
    const [row] = this.#sql.exec<FormRow>(
      'SELECT sending_until, url, number FROM sent_forms WHERE form = ?',
      form,
    );
    if (row === undefined) {
      const [until, sendingUntil] = [now + FORM_LIFE_MS, now + SENDING_MS];
      this.#sql.exec('INSERT INTO sent_forms VALUES (?, ?, ?, NULL, NULL)', form, until, sendingUntil);
      return { kind: 'new' };
    }
    const { sending_until: sendingUntil, url, number } = row;
    if (url !== null && number !== null) return { kind: 'posted', posted: { url, number } };
    // After a clock was set back, nobody waits for longer either.
    return { kind: isAhead(sendingUntil, SENDING_MS, now) ? 'sending' : 'unknown' };
  }

  /** @param result `new`: nothing was posted, and the form may be sent again. */
  end(form: string, result: FormResult): void {
    if (result.kind === 'new') {
      this.#sql.exec('DELETE FROM sent_forms WHERE form = ?', form);
      return;
    }
    const { url, number } = result.kind === 'posted' ? result.posted : { url: null, number: null };
    const end = 'UPDATE sent_forms SET sending_until = 0, url = ?, number = ? WHERE form = ?';
    this.#sql.exec(end, url, number, form);
  }

  /** Answers whether some are left. */
  forgetOld(now: number): boolean {
    this.#sql.exec('DELETE FROM sent_forms WHERE until <= ?', now);
    return this.#sql.exec('SELECT 1 FROM sent_forms LIMIT 1').toArray().length > 0;
  }
}
