import { contract } from '@resource/contract'
import { collectionAt } from '../samples.ts'
import { randomText } from './bodies.ts'
import type { Random } from './random.ts'
import { CURSOR_IDS, CURSOR_KEYS, QUERY_PARTS, QUERY_VALUES } from './values.ts'

/** A query string with some of the parameters `names`, and now and then unknown ones. */
export function queryString(random: Random, names: string[], path: string): string {
  const parts: string[] = []
  for (const name of names) {
    if (!random.oneIn(3)) continue
    parts.push(`${name}=${random.oneIn(8) ? random.pick(QUERY_VALUES) : queryValue(random, name, path)}`)
  }
  if (random.oneIn(12)) parts.push(random.pick(QUERY_PARTS))
  if (random.oneIn(25) && parts[0] !== undefined) parts.push(parts[0])
  return parts.length === 0 ? random.pick(['', '', '', '?']) : `?${parts.join('&')}`
}

/** A valid or slightly invalid value for the query parameter `name`. */
export function queryValue(random: Random, name: string, path: string): string {
  switch (name) {
    case 'page':
      return String(random.pick([1, 1, 2, 3, 1000, 2 ** 31 - 1]))
    case 'limit':
      return String(random.pick([1, 2, 5, 100, 1000, 1001, 2 ** 53, '0']))
    case 'sort':
      return sortOf(random, path)
    case 'after':
      return random.oneIn(4) ? '' : cursor(random, path)
    case 'envelope':
    case 'count':
      return random.pick(['true', 'false'])
    case 'fields':
      return random.pick(['id', 'name,id', 'email,email', 'title', 'version', 'id,,name'])
    case 'role':
      return random.pick(['admin', 'user', 'root'])
    case 'status':
      return random.pick(['active', 'inactive', 'inactive', 'gone'])
    case 'age':
      return String(random.pick([0, 36, 150, 151, -1]))
    case 'price_lt':
      return random.pick(['10', '0.1', '-5', '1000000000000', '1e3'])
    default:
      return encodeURIComponent(randomText(random, 20).toWellFormed())
  }
}

function sortOf(random: Random, path: string): string {
  const noun = collectionAt(path) ?? 'items'
  return random.pick(contract[noun].procedures.list.input.shape.sort.unwrap().options)
}

// In the form of the service, with keys that it would not write.
function cursor(random: Random, path: string): string {
  const id = random.pick(CURSOR_IDS)
  const text = random.oneIn(10)
    ? random.pick(['', 'null', '{}', '[', '[[[]]]', '"x"', '[1,2,3]'])
    : `["${random.oneIn(3) ? 'id_asc' : sortOf(random, path)}",${random.pick(CURSOR_KEYS)},${id}]`
  return Buffer.from(text).toString('base64url')
}
