/**
 * Serves the forms below a remote's path, which need neither script nor cookies. Pages of other
 * sites may read answers of the JSON endpoints only, not of these.
 * Proved by test/e2e/people/thread-form.test.ts and test/e2e/people/change-form.test.ts.
 */
import { type Context, Hono } from 'hono';
import { REPOSITORY_PATH } from '../../config/hosts.ts';
import type { AppEnv } from '../../env.ts';
import { isStorageFailure } from '../../storage-failure.ts';
import { answerRefused, CANNOT_WRITE, explained } from '../request/refused.ts';
import {
  CHANGE_FORM,
  FILE_FORM,
  ISSUE_FORM,
  remotePath,
  REPLY_FORM,
  SECURITY_FORM,
  WITHDRAW_FORM,
} from '../../pages/remote-paths.ts';
import { MOST_ANSWERS } from '../../policy/issue-templates.ts';
import { MAX_FIELDS } from '../request/form-fields.ts';
import { onRepositoryPage } from '../request/repository.ts';
import { showChange } from './change/change-form.ts';
import { answerWithdrawal, showWithdrawal } from './change/form-push.ts';
import { sendChange } from './change/send-change.ts';
import { answerFileForm, showFileForm } from './file/file-form.ts';
import { onForm, onSent, SEND_AGAIN } from './form.ts';
import { answerSecurity, showSecurityForm } from './security-form.ts';
import { answerIssue, showIssueForm } from './issue-form.ts';
import { answerReply, showReplyForm } from './reply-form.ts';

const FAULT = explained(500, 'The service has a fault', `It was logged. ${SEND_AGAIN}`);
/** Room for the longest text that hosts take, if each character has four bytes, all escaped. */
const MAX_THREAD_BYTES = 1024 * 1024;
/** Room for the largest file, if it is all line feeds, which are sent as six characters each. */
const MAX_CHANGE_BYTES = 7 * 1024 * 1024;
const MAX_WITHDRAWAL_BYTES = 4 * 1024;

export const forms = new Hono<AppEnv>().basePath(REPOSITORY_PATH);

forms.get(ISSUE_FORM, onForm(ISSUE_FORM, showIssueForm));
forms.post(ISSUE_FORM, onSent(ISSUE_FORM, MAX_THREAD_BYTES, answerIssue, MAX_FIELDS + MOST_ANSWERS));
forms.get(REPLY_FORM, onForm(REPLY_FORM, showReplyForm));
forms.post(REPLY_FORM, onSent(REPLY_FORM, MAX_THREAD_BYTES, answerReply));
forms.get(CHANGE_FORM, onForm(CHANGE_FORM, showChange));
forms.post(CHANGE_FORM, onSent(CHANGE_FORM, MAX_CHANGE_BYTES, sendChange));
forms.get(FILE_FORM, onForm(FILE_FORM, showFileForm));
forms.post(FILE_FORM, onForm(FILE_FORM, answerFileForm));
forms.get(WITHDRAW_FORM, onForm(WITHDRAW_FORM, showWithdrawal));
forms.post(WITHDRAW_FORM, onSent(WITHDRAW_FORM, MAX_WITHDRAWAL_BYTES, answerWithdrawal));
forms.get(SECURITY_FORM, onForm(SECURITY_FORM, showSecurityForm));
forms.post(SECURITY_FORM, onSent(SECURITY_FORM, MAX_THREAD_BYTES, answerSecurity));

// Leads from paths that a code host has to the forms here, for people who replace only its name.
const leadTo = (form: string, queryOf: (c: Context<AppEnv>) => Record<string, string>) =>
  onRepositoryPage((c, target) => {
    const query = new URLSearchParams(queryOf(c)).toString();
    return c.redirect(`${remotePath(c.var.host, target)}${form}${query === '' ? '' : `?${query}`}`, 302);
  });
/** Leads from lists of issues and pull requests to the page of the repository. */
const toRepository = leadTo('', () => ({}));
const toIssue = leadTo(ISSUE_FORM, (c) => c.req.query());
const toSecurity = leadTo(SECURITY_FORM, () => ({}));
const toReply = leadTo(REPLY_FORM, (c) => ({ to: c.req.param('number') ?? '' }));
/**
 * Leads to the form of a change, which begins at the default branch, whichever branch the address
 * names. A branch's name is taken to end at the first slash.
 */
const toChange = leadTo(CHANGE_FORM, (c) => ({ path: c.req.param('path') ?? '' }));

forms.get('/:page{(?:issues|pulls)}', toRepository);
forms.get('/issues/new/*', toIssue);
forms.get('/issues/:number{[0-9]+}', toReply);
forms.get('/pull/:number{[0-9]+}/*', toReply);
forms.get('/pulls/:number{[0-9]+}', toReply);
forms.get('/security/policy', toSecurity);
forms.get('/security/advisories/*', toSecurity);
forms.get('/:page{blob|edit|tree}/:branch/:path{.+}', toChange);
forms.get('/src/branch/:branch/:path{.+}', toChange);

forms.onError((error, c) => {
  c.var.logger.error('a form failed', { error });
  return answerRefused(c, isStorageFailure(error) ? CANNOT_WRITE : FAULT, 'page');
});
