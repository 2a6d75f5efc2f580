const ADDRESS = String.raw`localhost|127(?:\.\d{1,3}){3}|\[(?:::1|::ffff:127(?:\.\d{1,3}){3})\]|(?:[\w-]+\.)+localhost`

/** The source of an expression for a loopback name or address, with a port or without. */
export const LOOPBACK = String.raw`(?:(?:${ADDRESS})(?::\d{0,5})?|::1|::ffff:127(?:\.\d{1,3}){3})`
const IS_LOOPBACK = new RegExp(`^${LOOPBACK}$`, 'i')

/** Whether a name or an address means this machine. */
export function isLoopback(address: string): boolean {
  return IS_LOOPBACK.test(address)
}

/** Whether responses from a URL cannot be modified in transit: https, or http on loopback. */
export function isSecure(url: string): boolean {
  if (!URL.canParse(url)) return false
  const { protocol, hostname } = new URL(url)
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))
}
