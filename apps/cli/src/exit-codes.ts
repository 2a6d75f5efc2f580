/** The exit codes. The help prints this table, and the README repeats it. */
export const EXIT_CODES = {
  ok: { code: 0, meaning: 'success' },
  unexpected: { code: 1, meaning: 'unexpected error' },
  invalid: { code: 2, meaning: 'invalid usage or input; nothing was changed' },
  not_found: { code: 3, meaning: 'not found' },
  conflict: { code: 4, meaning: 'conflict with stored data, or a version other than --if-version' },
  unavailable: { code: 5, meaning: 'service unreachable or overloaded, or no answer in time' },
  partial: { code: 6, meaning: 'some records or rows failed; the others were changed' },
  denied: { code: 7, meaning: 'access denied: the key is missing, wrong, expired or revoked, or its role is too low' },
  unusable: { code: 8, meaning: 'the database or backup is damaged, or belongs to another program or a newer version' },
  interrupted: { code: 130, meaning: 'interrupted, or not confirmed' },
} as const

/** The name of an outcome, as in JSON errors. */
export type Outcome = keyof typeof EXIT_CODES

/** The table as lines: `  3  not found`. */
export function exitCodeLines(): string {
  return Object.values(EXIT_CODES)
    .map(({ code, meaning }) => `  ${String(code).padStart(3)}  ${meaning}`)
    .join('\n')
}
