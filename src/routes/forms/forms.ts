/**
 * Contributions from a browser: forms below the path of a remote. They work without script and cookies, also in Tor
 * Browser's safest mode. The paths lie beside those of the JSON endpoints, whose answers pages of other sites may read.
 */
import { Hono } from 'hono';
import type { AppEnv } from '../../env.ts';
import { onRepositoryPage } from '../request/repository.ts';
import { REPOSITORY_PATH } from '../../config/hosts.ts';
import { answerRefused, explained } from '../request/refused.ts';
import { SEND_AGAIN } from './form-answer.ts';
import { sendIssueForm, showIssueForm } from './issue-form.ts';
import { CHANGE_FORM, ISSUE_FORM, REPLY_FORM, WITHDRAW_FORM } from './paths.ts';
import { sendChange } from './change/send-change.ts';
import { showChange } from './change/show-change.ts';
import { sendWithdrawal, showWithdrawal } from './change/withdraw-form.ts';
import { sendReplyForm, showReplyForm } from './reply-form.ts';

const FAULT = explained(500, 'The service has a fault', `It was logged. ${SEND_AGAIN}`);

export const forms = new Hono<AppEnv>().basePath(REPOSITORY_PATH);

forms.get(ISSUE_FORM, onRepositoryPage(showIssueForm));
forms.post(ISSUE_FORM, onRepositoryPage(sendIssueForm));
forms.get(REPLY_FORM, onRepositoryPage(showReplyForm));
forms.post(REPLY_FORM, onRepositoryPage(sendReplyForm));

forms.get(CHANGE_FORM, onRepositoryPage(showChange));
forms.post(CHANGE_FORM, onRepositoryPage(sendChange));
forms.get(WITHDRAW_FORM, onRepositoryPage(showWithdrawal));
forms.post(WITHDRAW_FORM, onRepositoryPage(sendWithdrawal));

forms.onError((error, c) => {
  c.var.logger.error('a form failed', { error });
  return answerRefused(c, FAULT, 'page');
});
