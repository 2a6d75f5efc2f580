import { Problem } from '@resource/openapi'
import { hashInTurn } from './hashing.ts'

/** A password's argon2id hash in PHC form; null for no password. */
export async function hashPassword(password: string | undefined): Promise<string | null> {
  return password === undefined ? null : hashInTurn(password)
}

/** The same for many, in the order given, one after another: others take their turns in between. */
export async function hashPasswords(passwords: (string | undefined)[]): Promise<(string | null)[]> {
  const hashes: (string | null)[] = []
  for (const password of passwords) hashes.push(await hashPassword(password))
  return hashes
}

/**
 * The length this service asks for, which may be more than the contract does.
 *
 * @param field as the caller knows it: `password`, `[3].password`
 * @throws Problem 400
 */
export function checkPassword(password: string | undefined, minLength: number, field: string): void {
  if (password === undefined || [...password].length >= minLength) return
  const message = `must be text of at least ${minLength} characters`
  throw new Problem(400, `${field}: ${message}`, { fields: [{ field, message }] })
}
