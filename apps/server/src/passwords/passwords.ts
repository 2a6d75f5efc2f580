import { turnOf } from '../access/caller.ts'
import { hashInTurn } from './hashing.ts'

/**
 * The argon2id hashes of passwords in PHC form, null for none. They are made one after another in their caller's turns, so
 * that others take theirs in between.
 *
 * @param isBegun whether the request has had a turn already
 */
export async function hashPasswords(
  passwords: (string | undefined)[],
  context: Parameters<typeof turnOf>[0],
  isBegun: boolean,
): Promise<(string | null)[]> {
  const caller = turnOf(context)
  const hashes: (string | null)[] = []
  let isNext = isBegun
  for (const password of passwords) {
    hashes.push(password === undefined ? null : await hashInTurn(password, { caller, isBegun: isNext }))
    isNext = false
  }
  return hashes
}

export type CheckPassword = ReturnType<typeof passwordCheck>

/**
 * What the rules of this service (decisions, "Second reading") say against a password, if anything.
 *
 * @param minLength in characters
 * @param needsCredentials whether the service asks for credentials; without them the contract's own rules are enough
 */
export function passwordCheck(minLength: number, needsCredentials: () => boolean | Promise<boolean>) {
  return async (password: string | undefined): Promise<string | undefined> => {
    if (password === undefined || !(await needsCredentials())) return undefined
    if ([...password].length < minLength) return `must be text of at least ${minLength} characters`
    common ??= loadCommon()
    if (!(await common).has(password.toLowerCase())) return undefined
    return `must not be one of the ${MOST_COMMON.toLocaleString('en')} most common passwords`
  }
}

const MOST_COMMON = 10_000

let common: Promise<Set<string>> | undefined

// The list takes 15 MB and a tenth of a second to load, which only who needs it should pay. It is in the order of how
// often passwords were found, in lower case.
async function loadCommon(): Promise<Set<string>> {
  const { dictionary } = await import('@zxcvbn-ts/language-common')
  return new Set(dictionary['passwords-common'].slice(0, MOST_COMMON))
}
