/**
 * Searches what was typed into a form for what would tell who has typed it.
 * Proved by test/e2e/people/thread-form.test.ts and test/e2e/people/private-report.test.ts.
 */
import { newAddresses } from '../../edit/addresses.ts';
import { newUnseen } from '../../edit/unseen.ts';
import { utf8 } from '../../git/bytes.ts';
import { SearchedNames } from '../../git/search/searched-names.ts';
import { FoundLeaks, searchedLine } from '../../leaks/findings.ts';
import { unsearchedLines } from '../../leaks/lines.ts';
import { remarksOn } from '../../leaks/remarks.ts';
import { uploadLines } from '../../leaks/uploads.ts';
import { type GivenAway, MAX_OWN_NAME } from '../../pages/forms/parts.ts';
import type { FormFields } from '../request/form-fields.ts';
import { NO_NAME, typedIdentity } from './form.ts';

/** Reads the name to search for, and cuts it: nobody has a longer one. */
export function ownNameIn(fields: FormFields): string {
  return (fields.get('own_name') ?? '').trim().slice(0, MAX_OWN_NAME);
}

/**
 * Searches texts for `ownName`, credentials, home folders and Change-Ids, as a push's texts are,
 * whatever the operator has set, and for uploads; but not for ids of commits, and it refuses
 * nothing.
 * @param texts by the names that remarks give them.
 */
export function givenAway(texts: Readonly<Record<string, string>>, ownName: string): GivenAway {
  const { name, email } = typedIdentity(ownName, '');
  const content = utf8(`author ${name} <${email}> 0 +0000\n\n`);
  const names = new SearchedNames({ headers: [{ content, encoding: null }], originalIds: [], nobodys: [] });
  const findings = new FoundLeaks(names);
  for (const [where, text] of Object.entries(texts)) findings.addText(() => where, utf8(text));
  const searched = ownName === '' ? NO_NAME : searchedLine(names.identities);
  const leaks = [...findings.leaks.map(({ heading }) => heading), ...findings.lines];
  const unsearched = unsearchedLines(names.looks.ended, 'Check the rest yourself.');
  const noFiles = { homeFolders: [], files: [], opaque: [] };
  const likely = [...findings.likely, ...remarksOn(findings.homes, noFiles)];
  const whole = Object.values(texts).join('\n');
  return {
    addresses: newAddresses('', whole),
    remarks: [
      ...leaks,
      ...likely.flatMap(({ lines }) => lines),
      ...uploadLines(whole),
      ...newUnseen('', whole),
      ...unsearched,
      searched,
    ],
  };
}
