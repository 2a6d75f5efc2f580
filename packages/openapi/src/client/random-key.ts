/** A new idempotency key. */
// Not crypto.randomUUID: browsers have it only on secure origins. React Native has no crypto, or an incomplete one.
export function randomKey(): string {
  const bytes = new Uint8Array(16)
  const { crypto } = globalThis as { crypto?: { getRandomValues?: (bytes: Uint8Array) => unknown } }
  if (typeof crypto?.getRandomValues === 'function') crypto.getRandomValues(bytes)
  else for (const index of bytes.keys()) bytes[index] = Math.random() * 256
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** A UUID of version 8 (RFC 9562) with these hexadecimal digits, at least 32, but for those of the version and the variant. */
export function uuidOf(hex: string): string {
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    '-',
  )
}
