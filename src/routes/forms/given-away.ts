/** What a text that a form posts would give away: the search of a push, without its files. It refuses nothing. */
import { newAddresses } from '../../edit/addresses.ts';
import { utf8 } from '../../git/bytes.ts';
import { SearchedNames } from '../../git/search/searched-names.ts';
import { Findings, searchedLine } from '../../push/judge/names/findings.ts';
import { remarksOn } from '../../push/judge/names/remarks.ts';
import type { FormFields } from '../../forms/form-fields.ts';
import { MAX_OWN_NAME } from '../../pages/forms/parts.ts';
import type { GivenAway } from '../../pages/forms/change-pages.ts';
import { identityOf } from './change/change-fields.ts';

export const NO_NAME = 'You gave no name, so nothing was searched for. Check the text yourself.';
const NO_FILES = { homeFolders: [], files: [], opaque: [] };

/** Longer ones are nobody's. */
export function ownNameIn(fields: FormFields): string {
  return (fields.get('own_name') ?? '').trim().slice(0, MAX_OWN_NAME);
}

/** @param texts by what they are called. @param ownName what the person has given to be searched for. */
export function givenAway(texts: Readonly<Record<string, string>>, ownName: string): GivenAway {
  const { name, email } = identityOf({ ownName }, '');
  const content = utf8(`author ${name} <${email}> 0 +0000\n\n`);
  const names = new SearchedNames({ headers: [{ content, encoding: null }], originalIds: [], nobodys: [] });
  const findings = new Findings(names);
  for (const [where, text] of Object.entries(texts)) findings.addText(() => where, utf8(text));
  const searched = ownName === '' ? NO_NAME : searchedLine(names.identities);
  const leaks = [...findings.leaks.map(({ heading }) => heading), ...findings.lines, ...findings.words];
  return {
    addresses: newAddresses('', Object.values(texts).join('\n')),
    remarks: [...leaks, ...remarksOn(Object.entries(texts), NO_FILES), searched],
  };
}
