import { hash, randomInt, timingSafeEqual } from 'node:crypto'

// `rsk_`, 12 characters that identify the key, and 32 that are its secret (190 bits). The prefix lets secret scanners find
// leaked keys.
const FORM = /^rsk_[0-9A-Za-z]{44}$/
const PREFIX_LENGTH = 'rsk_'.length + 12
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const NO_HASH = hashOf('')

/**
 * Creates a key. Only `prefix` and `hash` are stored.
 *
 * @param prefix that of a key which gets a new secret
 */
export function newKey(prefix = `rsk_${randomText(12)}`): { key: string; prefix: string; hash: string } {
  const key = prefix + randomText(32)
  return { key, prefix, hash: hashOf(key) }
}

function randomText(length: number): string {
  return Array.from({ length }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')
}

/** Whether a text has the form of a key. */
export function isKey(text: string): boolean {
  return FORM.test(text)
}

/** The part that identifies a key and is not secret. */
export function prefixOf(key: string): string {
  return key.slice(0, PREFIX_LENGTH)
}

/** Compares in constant time, even if there is no stored hash. */
export function isSame(key: string, stored: string | undefined): boolean {
  const equal = timingSafeEqual(Buffer.from(hashOf(key)), Buffer.from(stored ?? NO_HASH))
  return equal && stored !== undefined
}

// A key is random and long, so a fast hash is enough: it cannot be guessed.
function hashOf(key: string): string {
  return hash('sha256', key)
}
