/**
 * Carries out what the forms of the pages send (act-forms.ts). Nobody signs in here, so a page of
 * another site must not be able to send them. A browser says in `Origin` which page has sent a
 * form, even if the other site's name leads to this machine.
 */
import type { Host } from '../host.ts';
import type { WholeRequest } from '../http-server.ts';
import { Impossible, type IssueName, type Maintainer } from '../maintainer.ts';
import type { Repository } from '../records.ts';
import type { Answer } from '../rest/api-call.ts';
import { empty } from '../rest/api-call.ts';
import { characters, MAX_BODY_CHARACTERS } from '../rest/issue-rules.ts';
import { POLICY_PATH } from './act-forms.ts';
import { messagePage } from './layout.ts';

const THREAD = /^\/([^/]+)\/([^/]+)\/(?:pull|issues)\/(\d{1,9})$/;
const REPOSITORY = /^\/([^/]+)\/([^/]+)$/;

export class Acts {
  readonly #host: Host;
  readonly #maintainer: Maintainer;
  readonly #forgetLimits: (() => Promise<void>) | null;

  constructor(host: Host, maintainer: Maintainer, forgetLimits: (() => Promise<void>) | null) {
    this.#host = host;
    this.#maintainer = maintainer;
    this.#forgetLimits = forgetLimits;
  }

  get canForgetLimits(): boolean {
    return this.#forgetLimits !== null;
  }

  /**
   * Carries out an act. Answers with the way back to the form's page, or with a page that says what
   * is wrong.
   */
  async handle({ url, headers, body }: WholeRequest): Promise<Answer> {
    if (!this.#isOwnPage(headers.origin)) {
      const message = `Only a page of ${this.#host.url} may send this. Open that page, and press its button.`;
      return messagePage(403, 'Not from here', message);
    }
    const { pathname } = new URL(url);
    try {
      await this.#act(pathname, new URLSearchParams(body.toString()));
      return empty(303, { location: pathname });
    } catch (error) {
      if (error instanceof Impossible) return messagePage(409, 'That is not possible', error.message);
      throw error;
    }
  }

  #isOwnPage(origin: string | undefined): boolean {
    const { origin: own, port } = new URL(this.#host.url);
    return origin === own || origin === `http://localhost:${port}`;
  }

  async #act(path: string, form: URLSearchParams): Promise<void> {
    const act = form.get('act') ?? '';
    // Browsers send lines that end as in a mail.
    const text = (form.get('text') ?? '').replaceAll('\r\n', '\n').trimEnd();
    if (characters(text) > MAX_BODY_CHARACTERS) {
      throw new Impossible(`The text has more than ${MAX_BODY_CHARACTERS} characters.`);
    }
    const [, owner = '', repo = '', number] = THREAD.exec(path) ?? REPOSITORY.exec(path) ?? [];
    const repository = this.#host.store.findRepository(owner, repo);
    if (act === 'forget-limits' && path === '/' && this.#forgetLimits) await this.#forgetLimits();
    else if (!repository || repository.private) throw new Impossible('There is nothing here.');
    else if (number === undefined && act === 'policy') {
      await this.#host.inTurn(repository, () =>
        this.#maintainer.writeFile(owner, repo, POLICY_PATH, text === '' ? null : `${text}\n`),
      );
    } else if (number === undefined && act.endsWith('-app')) this.#onApp(act, repository);
    else if (number !== undefined) {
      const name = { owner: repository.owner, repo, number: Number(number) };
      await this.#host.inTurn(repository, () => this.#onThread(act, name, text, form.getAll('label')));
    } else throw new Impossible('There is no such action here.');
  }

  /** Installs the App in one repository, or does something to its installation. */
  #onApp(act: string, { owner, name }: Repository): void {
    const { apps } = this.#host;
    const isAdded = apps.ofAccount(owner) !== undefined;
    if (act === 'install-app' && isAdded) apps.select(owner, name, true);
    else if (act === 'install-app') apps.install(owner, [name]);
    else if (act === 'remove-app') apps.uninstall(owner);
    else if (act === 'suspend-app' || act === 'resume-app') apps.setSuspended(owner, act === 'suspend-app');
    else throw new Impossible('There is no such action here.');
  }

  async #onThread(act: string, name: IssueName, text: string, labels: readonly string[]): Promise<void> {
    if (text === '' && (act === 'comment' || act === 'request-changes')) {
      throw new Impossible('The text is empty. Go back, and write one.');
    }
    if (act === 'comment') this.#maintainer.comment(name, text);
    else if (act === 'approve') this.#maintainer.review(name, 'APPROVED', text);
    else if (act === 'request-changes') this.#maintainer.review(name, 'CHANGES_REQUESTED', text);
    else if (act === 'merge') await this.#maintainer.merge(name);
    else if (act === 'close') this.#maintainer.close(name);
    else if (act === 'label') this.#maintainer.setLabels(name, labels);
    else throw new Impossible('There is no such action here.');
  }
}
