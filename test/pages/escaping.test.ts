/** Whatever gets into a page is text there: no tag, no attribute, no second script. */
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { frontPage } from '../../src/pages/front-page.ts';
import { type Page, renderPage } from '../../src/pages/layout.ts';
import { pullRequestPage } from '../../src/pages/pull-request-page.ts';
import { changeDonePage, changePreviewPage, withdrawPage } from '../../src/pages/forms/change-pages.ts';
import { changeFormPage } from '../../src/pages/forms/edit-page.ts';
import { folderPage } from '../../src/pages/forms/folder-page.ts';
import {
  donePage,
  issueChoicePage,
  issueClosedPage,
  issueFormPage,
  issuePreviewPage,
} from '../../src/pages/forms/thread-pages.ts';
import {
  replyClosedPage,
  replyFormPage,
  replyPreviewPage,
  replyToPage,
} from '../../src/pages/forms/reply-pages.ts';
import {
  securityFormPage,
  securityPreviewPage,
  securitySentPage,
} from '../../src/pages/forms/security-pages.ts';
import { REVIEW_DOOR, reviewListPage, reviewOnePage } from '../../src/pages/delayed-review-page.ts';
import { doorPage, operatorHomePage } from '../../src/pages/operator-page.ts';
import { fileClosedPage, filePage, filePreviewPage } from '../../src/pages/forms/file-pages.ts';
import { delayedPage } from '../../src/pages/delayed-page.ts';
import { remotePage } from '../../src/pages/remote-page.ts';
import { NO_FILES } from '../../src/policy/community-files.ts';
import type { FormQuestion } from '../../src/policy/issue-templates.ts';
import { OPEN_POLICY } from '../../src/policy/policy.ts';
import { UNREPORTED } from '../../src/durable/identity/moderation.ts';
import { appealFormPage, problemPage, reportPage } from '../../src/pages/report-page.ts';
import { exhaustive } from '../support/exhaustive.ts';

const HOSTS = [
  { key: 'gh', kind: 'github', url: 'https://host.test', apiUrl: 'https://host.test', token: null },
] as const;

const plain = 'harmless';

const frame = (text: string) => ({ repository: text, home: text, action: text, token: text, problem: text });
const change = (text: string) => ({
  ...frame(text),
  fields: {
    path: text,
    blob: `b${text}`,
    seen: text,
    text,
    removed: '',
    others: `o${text}`,
    title: text,
    description: `d${text}`,
    own_name: text,
    pr_hash: `h${text}`,
    pr_key: text,
    sign_off: 'yes',
    ai: 'none',
    issue: text,
  },
  policy: { requiresSignOff: true, requiresAi: true, requiresIssue: true },
  others: [{ path: text, blob: '', text, isRemoved: false }],
  searched: [text],
  warnings: [text],
  templateUrl: text,
  needsKey: true,
  asked: '',
  closed: null,
});
const TYPES = ['markdown', 'input', 'textarea', 'dropdown', 'checkboxes'] as const;
const question = (type: FormQuestion['type'], text: string): FormQuestion => ({
  type,
  id: `i${text}`,
  label: `l${text}`,
  description: `d${text}`,
  placeholder: `p${text}`,
  // Markdown makes other tags of other texts, and is rendered as any text of strangers.
  value: plain,
  render: null,
  options: [{ label: `o${text}`, isRequired: true }],
  isMultiple: false,
  isRequired: true,
});
const asked = (text: string) => ({
  name: text,
  questions: TYPES.map((type) => question(type, text)),
  sent: { template: text, asked: text, 'answer-1': text, 'answer-2': text, 'answer-3': `a${text}` },
});
const offered = (text: string) => ({
  templates: [
    { file: text, name: text, about: `a${text}`, title: text, labels: text, body: text, questions: null },
  ],
  isBlankRefused: false,
  links: [{ name: text, url: text, about: `a${text}` }],
});
const issue = (text: string) => ({
  ...frame(text),
  title: text,
  body: text,
  labels: text,
  own_name: text,
  asked: null,
});
const report = (text: string) => ({
  ...frame(text),
  typed: {
    summary: text,
    description: `d${text}`,
    severity: 'high',
    cvss_vector_string: text,
    ecosystem: 'npm',
    package: `p${text}`,
    vulnerable_version_range: `v${text}`,
    patched_versions: text,
    cwe_ids: `c${text}`,
    own_name: text,
  },
});
const sentReport = (text: string) => ({
  summary: text,
  description: text,
  rating: { cvss_vector_string: text },
  package: { ecosystem: 'npm' as const, name: text },
  vulnerableVersions: `v${text}`,
  patchedVersions: `p${text}`,
  cweIds: [`c${text}`],
});
const securityFile = (text: string) => ({
  kind: 'file' as const,
  repository: { owner: text, name: text },
  path: text,
  text,
  isCut: true,
});
const same = (text: string) => ({
  prHash: text,
  url: `https://host.test/${text}`,
  number: 1,
  state: 'open' as const,
  endedOn: null,
  shared: 1,
});
const reply = (text: string) => ({
  ...frame(text),
  number: 1,
  threadUrl: text,
  body: `b${text}`,
  own_name: text,
  user_token: text,
  closed: null,
  appealFor: text,
  own: text,
});
const given = (text: string) => ({ remarks: [`r${text}`], addresses: [text] });
const said = (text: string) => ({
  kind: 'shown' as const,
  conversation: {
    title: `t${text}`,
    state: 'open' as const,
    closedAt: null,
    isLocked: true,
    description: { author: text, at: '2026-11-23T09:00:00Z', text: `d${text}`, path: null, postedAs: text },
    comments: [
      { author: `a${text}`, at: '2026-11-23T10:00:00Z', text: `c${text}`, path: `p${text}`, postedAs: null },
    ],
    hasEarlier: true,
  },
});
const difference = (text: string) => ({
  hunks: [[{ kind: 'added' as const, before: null, after: 1, text, end: '\n' }]],
  added: 1,
  removed: 0,
  remarks: [`-${text}-`],
});

const shown = (text: string) => ({ text, missing: 1 });
const reviewed = (text: string) => ({
  listed: {
    name: text,
    reason: 'delay' as const,
    spool: { attempt: text, rowEnds: [] },
    commits: 1,
    keptAt: 0,
    from: 0,
    to: 0,
    dueAt: null,
  },
  author: text,
  repository: text,
  texts: {
    repository: { owner: text, name: text },
    base: text,
    updates: text,
    isDraft: true,
    title: shown(text),
    description: shown(`d${text}`),
    messages: [{ ...shown(text), encoding: text, encoded: shown(text) }],
    commitCount: 2,
  },
  problem: null,
});
const changed = (text: string) => ({
  path: text,
  kind: 'changed' as const,
  mode: text,
  bytes: 1,
  difference: difference(text),
  remarks: [text],
});

const file = (text: string) => ({
  ...frame(text),
  // An empty delay is one of the choices, which is then marked as chosen.
  fields: { ...change(text).fields, base: text, delay: `${text}?` },
  policy: change(text).policy,
  needsKey: true,
  isDelayed: true,
});
const previewed = (text: string) => ({
  author: text,
  title: text,
  body: `b${text}`,
  base: text,
  commits: [{ oid: text, title: text }],
  unlisted: 1,
  same: same(text),
  findings: [{ severity: 'warn' as const, code: text, lines: [`-${text}-`], places: [text] }],
  seen: text,
  yes: text,
});

/** Pages that say `text` wherever they can be made to say something. */
const PAGES: readonly ((text: string) => Page)[] = [
  (text) => problemPage(text, text),
  (text) => reportPage('12345678', UNREPORTED, [{ url: `https://host.test/${text}`, thread: text }]),
  (text) => appealFormPage({ token: text, problem: text, thread: text, userToken: text, text }, 700),
  (text) => changeFormPage({ ...change(text), theirs: difference(text) }),
  (text) => changeFormPage({ ...change(text), unfit: text }),
  (text) =>
    changePreviewPage(change(text), {
      files: [
        { path: text, blob: '', text, isRemoved: false, difference: difference(text) },
        { path: text, blob: 'b', text, isRemoved: true, difference: null },
      ],
      author: text,
      base: text,
      title: text,
      body: `b${text}`,
      remarks: [`-${text}-`],
      addresses: [text],
      isDelayed: true,
      hasMoved: true,
      same: same(text),
    }),
  (text) =>
    folderPage({
      ...frame(text),
      path: text,
      folder: 'docs',
      prHash: `h${text}`,
      entries: [
        { kind: 'file', name: text, path: text },
        { kind: 'symlink', name: text, path: null },
      ],
      begun: null,
    }),
  (text) =>
    folderPage({
      ...frame(text),
      path: text,
      folder: 'docs',
      prHash: `h${text}`,
      entries: [{ kind: 'file', name: text, path: text }],
      begun: { text },
    }),
  (text) =>
    changeDonePage(frame(text), {
      updated: false,
      prUrl: `https://host.test/${text}`,
      prHash: text,
      key: text,
      path: text,
      topicUrl: text,
      pageUrl: text,
      needsKey: false,
      notes: [`-${text}-`],
      same: same(text),
    }),
  (text) => filePage(file(text)),
  (text) => fileClosedPage(frame(text), text.replaceAll('\n', ' ')),
  (text) => filePreviewPage(file(text), { ...previewed(text), changes: text, held: null }),
  (text) => {
    const changes = { files: [changed(text)], gaps: [text] };
    return filePreviewPage(file(text), { ...previewed(text), changes, held: text });
  },
  (text) => withdrawPage(frame(text), { pr_hash: `h${text}`, pr_key: text }),
  (text) => issuePreviewPage({ ...issue(text), labels: `x${text}` }, text, given(text)),
  (text) => doorPage(REVIEW_DOOR, text, true, text),
  (text) =>
    operatorHomePage({
      server: `https://ntfy.test/${text}`,
      alerts: { waiting: 1, trouble: null },
      guard: { panicMode: true, writesSuspended: true, accountProblems: {} },
      delayed: { waiting: { delay: 0, busy: 0, review: 2 }, oldestAt: 0 },
      hosts: [],
      tested: null,
      stopped: [{ name: text, url: `https://host.test/${text}`, at: 0 }],
    }),
  (text) =>
    reviewListPage({
      pushes: [reviewed(text)],
      waiting: 30,
      page: 1,
      pageSize: 20,
      decided: null,
      problem: text,
    }),
  (text) => reviewOnePage(reviewed(text), { files: [changed(text)], gaps: [text] }),
  (text) => reviewOnePage({ ...reviewed(text), texts: null, problem: text }, text),
  (text) => replyFormPage(reply(text), said(text)),
  (text) => replyPreviewPage(reply(text), text, text, given(text)),
  (text) => issueFormPage(issue(text), offered(text)),
  (text) => issueFormPage({ ...issue(text), asked: asked(text) }),
  (text) => issueClosedPage(frame(text), text.replaceAll('\n', ' ')),
  (text) => issueChoicePage(frame(text), offered(text), text),
  (text) =>
    replyToPage(frame(text), text, text, [
      { number: 1, title: `t${text}`, isPullRequest: false, openedAt: '2026-11-23T10:00:00Z' },
    ]),
  (text) => replyClosedPage(frame(text), text.replaceAll('\n', ' ')),
  (text) =>
    donePage('comments', text, frame(text), { url: text, number: 1 }, { hash: text, userToken: text }),
  (text) =>
    securityFormPage(report(text), text, {
      closed: null,
      isTaken: true,
      policy: securityFile(text),
      fileUrl: `https://host.test/${text}`,
    }),
  (text) =>
    securityFormPage(report(text), text, {
      closed: text.replaceAll('\n', ' '),
      isTaken: null,
      policy: { kind: 'none' },
      fileUrl: '',
    }),
  (text) => securityPreviewPage(report(text), text, sentReport(text), given(text)),
  (text) => securitySentPage(frame(text), { id: text, url: text }, { readers: text, replies: text }),
  (text) =>
    remotePage(
      {
        repository: { owner: text, name: text },
        remoteBase: text,
        path: text,
        policy: {
          ...OPEN_POLICY,
          community: {
            ...NO_FILES,
            standing: { kind: 'unreadable', path: text, bot: text, reason: text },
            template: text,
            contributing: text,
            security: text,
          },
        },
        hostUrl: `https://host.test/${text}`,
        fileUrl: () => `https://host.test/${text}`,
        isSuspended: true,
        pullRequests: [
          { number: 1, url: `https://host.test/${text}`, state: 'open', title: text, openedAt: 0 },
        ],
        openThreads: [{ number: 2, title: text, isPullRequest: false, openedAt: text }],
        app: `https://host.test/${text}`,
      },
      { hosts: HOSTS },
    ),
  (text) =>
    frontPage({
      text,
      hosts: HOSTS,
      path: text,
      isInvalid: true,
      remoteBase: text,
      isSuspended: false,
      botProblems: [],
      isHostEmbedded: true,
      total: 1,
      recent: [
        { id: 1, host: 'gh', owner: text, repo: text, prUrl: `https://host.test/${text}`, createdAt: text },
      ],
      now: 0,
    }),
  (text) =>
    delayedPage({
      view: {
        name: text,
        reason: 'delay',
        state: 'waiting',
        from: 0,
        to: 0,
        until: 0,
        waitsForReview: false,
        isGivenUp: false,
        isBeingPublished: false,
        isBegun: true,
        said: [text],
        published: { prHash: text, url: `https://host.test/${text}`, isKeyShown: true },
      },
      prKey: text,
      origin: text,
      problem: text,
    }),
  (text) =>
    pullRequestPage({
      pullRequest: {
        prHash: text,
        host: 'gh',
        owner: text,
        repo: text,
        number: 1,
        url: `https://host.test/${text}`,
        fork: null,
        state: 'open',
        isShown: true,
        events: [{ id: 1, kind: 'commented', url: `https://host.test/${text}`, at: 0 }],
      },
      origin: text,
      needsKey: true,
      asked: '',
      closed: null,
      takesReplies: true,
      conversation: said(text),
    }),
];

async function rendered(page: Page, text: string): Promise<string> {
  const chrome = { sourceRepo: text, commitHash: text, operatorContact: { text, url: text } };
  return String(await renderPage(page, chrome));
}

/** The page without its texts and the values of its attributes. */
async function skeleton(page: Page, text: string): Promise<string> {
  // What may stand in a preview of Markdown: test/text/markdown.test.ts.
  const fixed = (await rendered(page, text)).replaceAll(
    /<div class="rendered"[^>]*>[^]*?<\/div>/g,
    '<div></div>',
  );
  // A command may break behind each slash.
  const whole = fixed.replaceAll('<wbr>', '');
  return whole.replaceAll(/"[^"]*"/g, '""').replaceAll(/>[^<]*</g, '><');
}

it('a page has the same tags and attributes, whatever it says', exhaustive, async () => {
  const hostile = fc
    .array(
      fc.constantFrom(
        '<',
        '>',
        '"',
        "'",
        '&',
        '`',
        '=',
        '/',
        '</script>',
        '<img onerror=x>',
        '&lt;',
        'a',
        ' ',
        '\0',
      ),
      {
        maxLength: 12,
      },
    )
    .map((parts) => parts.join(''));
  for (const makePage of PAGES) {
    const expected = await skeleton(makePage(plain), plain);
    await fc.assert(
      fc.asyncProperty(hostile, async (text) => {
        expect(await skeleton(makePage(text), text)).toBe(expected);
      }),
    );
  }
});

it('no page but the operator’s offers a secret to a password manager, which may pass it on', async () => {
  for (const makePage of PAGES) {
    const page = await rendered(makePage(plain), plain);
    if (page.includes('name="password"')) continue;
    expect(page).not.toMatch(/ (?:type="password"|autocomplete="(?!off"))/);
  }
});
