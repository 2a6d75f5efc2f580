import { grouped } from '@resource/contract'
import { queueKey } from '../access/caller.ts'
import { remembered } from '../process/once-loaded.ts'
import { enqueueHash } from './hash-queue.ts'

/**
 * Computes the argon2id hashes of passwords in PHC form; null for no password. Hashes one at a time, so that other callers
 * get theirs in between.
 *
 * @param isContinuation whether the request already got a hash from the queue
 */
export async function hashPasswords(
  passwords: (string | undefined)[],
  context: Parameters<typeof queueKey>[0],
  isContinuation: boolean,
): Promise<(string | null)[]> {
  const caller = queueKey(context)
  const hashes: (string | null)[] = []
  let isNext = isContinuation
  for (const password of passwords) {
    hashes.push(password === undefined ? null : await enqueueHash(password, { caller, isContinuation: isNext }))
    isNext = false
  }
  return hashes
}

export type CheckPassword = ReturnType<typeof passwordCheck>

/**
 * Creates a check of passwords by the rules of this service (API rule U17). The check returns what is wrong, if anything.
 *
 * @param minLength in characters
 * @param needsCredentials whether the service requires credentials; if not, only the contract's rules apply
 */
export function passwordCheck(minLength: number, needsCredentials: () => boolean | Promise<boolean>) {
  return async (password: string | undefined): Promise<string | undefined> => {
    if (password === undefined || !(await needsCredentials())) return undefined
    if ([...password].length < minLength) return `must be text of at least ${minLength} characters`
    if (!(await commonPasswords()).has(password.normalize('NFKC').toLowerCase())) return undefined
    return `must not be one of the ${grouped(COMMON_PASSWORDS)} most common passwords`
  }
}

const COMMON_PASSWORDS = 10_000

// NFKC: full-width letters are typed on the same keys.
// Loaded on demand, because the list takes 15 MB and 100 ms. It is sorted by frequency and in lower case.
const commonPasswords = remembered(async () => {
  const { dictionary } = await import('@zxcvbn-ts/language-common')
  return new Set(dictionary['passwords-common'].slice(0, COMMON_PASSWORDS))
})
