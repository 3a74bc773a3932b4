import { expect, it } from 'vitest';
import { uploadLines } from '../../src/leaks/uploads.ts';

it.each([
  'https://github.com/user-attachments/assets/01234567-89ab-cdef-0123-456789abcdef',
  'https://github.com/user-attachments/files/123/crash.log',
  'https://github.com/octo/hello/assets/583231/01234567-89ab-cdef-0123-456789abcdef',
  'https://github.com/octo/hello/files/123/crash.log',
  'https://user-images.githubusercontent.com/583231/1.png',
  'https://codeberg.org/attachments/01234567-89ab-cdef-0123-456789abcdef',
  'http://127.0.0.1:3000/attachments/01234567-89ab-cdef-0123-456789abcdef',
])('an upload is told: %s', (address) => {
  expect(uploadLines(`See ![it](${address}), and again ${address}`)).toEqual([
    'Files were uploaded at a code host, which knows by whose account:',
    `  ${address}`,
  ]);
});

it.each([
  'https://github.com/octo/hello/blob/main/assets/logo.png',
  'https://github.com/octo/hello/issues/12',
  'https://example.org/attachments/report.pdf',
  'https://[',
  'no address',
])('nothing else is: %s', (text) => expect(uploadLines(text)).toEqual([]));
