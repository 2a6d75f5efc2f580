import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * The absolute path of the database file that a URL names.
 *
 * @param url `file:data/app.db` (relative to the working directory), `file:/data/app.db` or `file:///data/app.db`.
 * @throws Error that names the URL, without what could be a password, when it is of another kind.
 */
export function databaseFile(url: string): string {
  if (/^file:\/\/\/[^?#]+$/.test(url)) return fileURLToPath(url)
  // Two connections in memory would be two databases; parameters would end up in the file's name.
  if (!/^file:(?!\/\/|:memory:)[^?#]+$/.test(url)) {
    throw new Error(
      `The database URL "${withoutSecrets(url)}" is not supported: use "file:" and a path, such as "file:data/app.db", or "postgresql://user:password@host/database".`,
    )
  }
  return resolve(url.slice('file:'.length))
}

function withoutSecrets(url: string): string {
  const parsed = URL.parse(url)
  if (parsed?.hostname) return `${parsed.protocol}//${parsed.hostname}/…`
  const secretsStart = url.search(/@|:\/\/|\?/)
  return secretsStart === -1 ? url : `${url.split(':', 1)[0]}:…`
}
