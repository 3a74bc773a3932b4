/** A repository's own form for issues: it is asked, and its answers are written as GitHub does. */
import { expect, it } from 'vitest';
import { FormClient, typedIn } from '../support/form-client.ts';
import { useTestBed } from '../support/test-bed.ts';

const bed = useTestBed();
const FOLDER = '.github/ISSUE_TEMPLATE';
const BUG = `name: Bug report
description: Something is wrong
title: "[Bug]: "
body:
  - type: markdown
    attributes: { value: "Thanks for **this**!" }
  - type: input
    id: version
    attributes: { label: Version, placeholder: 1.2.3 }
    validations: { required: true }
  - type: dropdown
    attributes: { label: System, options: [Linux, macOS] }
  - type: checkboxes
    attributes:
      label: Terms
      options: [{ label: I have read them, required: true }]
`;

it('a form of the repository is shown, requires what it requires, and becomes the text of the issue', async () => {
  const upstream = await bed.createUpstream();
  await upstream.grow({
    files: {
      [`${FOLDER}/bug.yml`]: BUG,
      [`${FOLDER}/config.yml`]:
        'blank_issues_enabled: false\ncontact_links: [{name: Forum, url: "https://forum.test/", about: Ask there}]\n',
      [`${FOLDER}/large.md`]: 'x'.repeat(100_000),
    },
  });
  const client = new FormClient(bed.service.url, bed.person());
  const path = `/v1/gh/${upstream.fullName}/new-issue`;
  const choice = await client.get(path);
  expect(choice.html).toContain('?template=bug.yml"');
  expect(choice.html).toContain('href="https://forum.test/"');
  expect(choice.html).not.toContain('name="body"');
  const form = await client.get(`${path}?template=bug.yml&version=2.0`);
  expect(form.heading).toBe('Open an issue: Bug report');
  expect([typedIn(form.html, 'title'), typedIn(form.html, 'answer-1')]).toEqual(['[Bug]: ', '2.0']);
  expect(form.html).toContain('Thanks for <strong>this</strong>!');
  const typed = {
    ...form.fields,
    title: '[Bug]: Slow',
    'answer-1': '2.0',
    'answer-2': 'Linux',
    labels: 'bug',
  };
  const refused = await client.post(path, { ...typed, step: 'preview' });
  expect([refused.status, refused.problem]).toEqual([400, 'Tick “I have read them”: it is required.']);
  expect(typedIn(refused.html, 'answer-1')).toBe('2.0');
  const preview = await client.post(path, { ...typed, 'answer-3-0': 'yes', step: 'preview' });
  expect(preview.html).toContain('Labels, if the repository has them and lets the bot set them: bug');
  const edited = await client.post(path, { ...preview.fields, step: 'edit' });
  expect(typedIn(edited.html, 'answer-1')).toBe('2.0');
  const done = await client.post(path, { ...preview.fields, step: 'post' });
  expect(done.heading, done.problem).toBe('Your issue is open');
  const body = '### Version\n\n2.0\n\n### System\n\nLinux\n\n### Terms\n\n- [x] I have read them\n\n---\n';
  expect(await bed.host.call('GET', `/repos/${upstream.fullName}/issues/1`)).toMatchObject({
    title: '[Bug]: Slow',
    body: expect.stringContaining(body) as string,
  });
  const changed = await client.post(path, { ...typed, asked: '0', step: 'preview' });
  expect([changed.status, typedIn(changed.html, 'body')]).toEqual([409, '2.0\n\nLinux']);
});
