import { hash, randomInt, timingSafeEqual } from 'node:crypto'

// `rsk_`, 12 characters that name the key and 32 that are its secret (190 bits): one expression finds it in a leak.
const FORM = /^rsk_[0-9A-Za-z]{44}$/
const PREFIX_LENGTH = 'rsk_'.length + 12
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const NO_HASH = hashOf('')

/** A new key; `prefix` and `hash` are what is stored of it. */
export function newKey(): { key: string; prefix: string; hash: string } {
  const key = `rsk_${Array.from({ length: 44 }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')}`
  return { key, prefix: prefixOf(key), hash: hashOf(key) }
}

/** Whether a text could be a key at all. */
export function isKey(text: string): boolean {
  return FORM.test(text)
}

/** The part that names a key and is no secret. */
export function prefixOf(key: string): string {
  return key.slice(0, PREFIX_LENGTH)
}

/** Compares in a time that tells nothing; also where there is nothing to compare with. */
export function isSame(key: string, stored: string | undefined): boolean {
  const equal = timingSafeEqual(Buffer.from(hashOf(key)), Buffer.from(stored ?? NO_HASH))
  return equal && stored !== undefined
}

// A key is random and long, so that a fast hash is enough: there is nothing to guess from.
function hashOf(key: string): string {
  return hash('sha256', key)
}
