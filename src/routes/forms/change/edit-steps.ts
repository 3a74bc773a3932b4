/**
 * Steps of the form that go on editing, and send nothing: a further file, another one of the
 * change, or one to be removed.
 * Proved by test/e2e/people/change-files.test.ts.
 */
import { type FileEdit, MOST_FILES, usualTitle, withFirst } from '../../../edit/file-edits.ts';
import { fileText, MAX_FILE_BYTES } from '../../../edit/lines.ts';
import { NO_BYTES } from '../../../git/bytes.ts';
import type { MemoryHold } from '../../../isolate/memory-budget.ts';
import { type ChangeFields, type ChangeForm, changeFormPage } from '../../../pages/forms/edit-page.ts';
import { folderPage } from '../../../pages/forms/folder-page.ts';
import { pushHost } from '../../../service/open-push.ts';
import { readBlob } from '../../../upstream/tree-reader.ts';
import type { FormFields } from '../../request/form-fields.ts';
import { problem, type Refused } from '../../request/refused.ts';
import { hostScopeOf } from '../../request/scope.ts';
import { answerForm, namedHash, type RequestedForm } from '../form.ts';
import { editsOf, withEdits } from './change-fields.ts';
import { changeForm } from './change-form.ts';
import { type Choice, type Chosen, chooseFile, listNothing, readChoice } from './choose-file.ts';
import { type ChangeSource, openSource, refuseReading } from './source.ts';

const TOO_MANY = problem(
  400,
  `A change has at most ${MOST_FILES} files here. Take one out, or use Git for larger changes.`,
);

/** Matches the buttons beside the further files: which step, and of which file. */
const OF_FILE = /^(file|out)-(\d)$/;

/**
 * Takes such a step.
 * @returns null if the step is of another kind.
 */
export async function takeEditStep(
  place: RequestedForm,
  form: ChangeForm,
  sent: FormFields,
  memory: MemoryHold,
): Promise<Response | Refused | null> {
  const step = sent.get('step') ?? '';
  const named = sent.get('named') ?? '';
  const chosen = sent.get('chosen');
  const choose = (typed: string, how: Choice['how'], isRemoved = false) =>
    chooseFurther(place, form, readChoice(typed, how), isRemoved, memory);
  if (chosen !== undefined) return choose(chosen, 'open');
  const [, what, index] = OF_FILE.exec(step) ?? [];
  const other = index === undefined ? undefined : form.others[Number(index)];
  const files = editsOf(form.fields, form.others);
  if (other !== undefined)
    return showEdits(
      place,
      form,
      what === 'file' ? withFirst(files, other) : files.filter((file) => file !== other),
    );
  switch (step) {
    case 'edit':
      return showEdits(place, form, files);
    case 'out-this':
      return showEdits(place, form, form.others.length === 0 ? files : form.others);
    case 'another':
      return choose('', 'open');
    case 'find':
    case 'add':
      return choose(named, step);
    case 'remove-named':
      return choose(named, 'find', true);
    case 'remove':
    case 'keep':
      return showEdits(place, form, [
        { ...(files[0] as FileEdit), isRemoved: step === 'remove' },
        ...form.others,
      ]);
    default:
      return null;
  }
}

/** Shows the first file to be edited. A title that nobody has typed follows the files. */
async function showEdits(
  place: RequestedForm,
  form: ChangeForm,
  files: readonly FileEdit[],
): Promise<Response> {
  const { title } = form.fields;
  const isUsual = title === usualTitle(editsOf(form.fields, form.others));
  const fields: ChangeFields = {
    ...withEdits(form.fields, files),
    title: isUsual ? usualTitle(files) : title,
  };
  return answerForm(place.c, changeFormPage(await changeForm(place, fields, form.token)));
}

async function chooseFurther(
  place: RequestedForm,
  form: ChangeForm,
  choice: Choice,
  isRemoved: boolean,
  memory: MemoryHold,
): Promise<Response | Refused> {
  const { c, target } = place;
  const files = editsOf(form.fields, form.others);
  const known = files.find(({ path }) => path === choice.path);
  if (known !== undefined) return showEdits(place, form, withFirst(files, { ...known, isRemoved }));
  if (files.length >= MOST_FILES) return TOO_MANY;
  // It becomes a part of what the host is asked.
  const prHash = namedHash(form.fields.pr_hash);
  if (typeof prHash !== 'string') return prHash;
  if (choice.problem !== null) return showList(place, form, listNothing(choice.path, choice.problem));
  const refused = await refuseReading(c);
  if (refused !== null) return refused;
  const source = await openSource(c, pushHost(hostScopeOf(c), { memory }), target, prHash);
  if (source.kind === 'refused') return problem(409, source.error);
  const chosen = await chooseFile(source, choice);
  if (chosen.kind === 'list') return showList(place, form, chosen);
  const file = fileText(await contentOf(source, chosen.blob));
  if (file.kind === 'unfit' && !isRemoved)
    return showList(place, form, listNothing(choice.path, file.problem));
  const text = file.kind === 'text' ? file.text : '';
  return showEdits(place, form, withFirst(files, { path: chosen.path, blob: chosen.blob, text, isRemoved }));
}

async function contentOf({ read }: ChangeSource, blob: string): Promise<Uint8Array | null> {
  return blob === '' ? NO_BYTES : readBlob(read, blob, MAX_FILE_BYTES);
}

function showList(
  place: RequestedForm,
  { fields, token }: ChangeForm,
  listed: Extract<Chosen, { kind: 'list' }>,
): Promise<Response> {
  const page = folderPage({ ...place, ...listed, prHash: fields.pr_hash, begun: { token, ...fields } });
  return answerForm(place.c, page, listed.status);
}
