/**
 * In place of Octokit's `json-with-bigint`, which looks at each value of each answer a second time. No number of a host is
 * as large as 2^53.
 */
export const JSONParse = JSON.parse;
export const JSONStringify = JSON.stringify;
