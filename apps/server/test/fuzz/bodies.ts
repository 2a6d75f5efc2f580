import { collectionAt, recordOf, SPECIFIED } from '../samples.ts'
import type { Random } from './random.ts'
import { BODIES, CHARACTERS, JSON_VALUES } from './values.ts'

/** Part of every password, and must not appear in any response. */
export const SECRET = 'marker-8d1f'

export type Fields = Record<string, unknown>

/** A body for an operation at `path`: valid, with an invalid field, or not JSON. */
export function jsonBody(random: Random, path: string): Buffer {
  const value = path.endsWith('/bulk') ? bulkOf(random, path) : mutated(random, fieldsOf(random, path))
  const text = JSON.stringify(value)
  return Buffer.from(random.oneIn(8) ? brokenText(random, text) : text)
}

/** The fields of a record of the collection that `path` names; now and then one is missing. */
export function fieldsOf(random: Random, path: string): Fields {
  const fields =
    extraOf(random, path) ?? (path.includes('books') ? bookOf : path.includes('items') ? itemOf : userOf)(random)
  if (path.includes('status')) fields.status = random.pick(['active', 'inactive'])
  if (random.oneIn(6)) delete fields[random.pick(Object.keys(fields))]
  return fields
}

/** A record of a collection that is not in the API rules. */
function extraOf(random: Random, path: string): Fields | undefined {
  const noun = collectionAt(path)
  return noun && !SPECIFIED.includes(noun) ? recordOf(noun, random.int(1, 1e9)) : undefined
}

function bookOf(random: Random): Fields {
  const published_date = random.pick(['1969-03-01', '2024-02-29', '0001-01-01', '9999-12-31'])
  return { title: randomText(random, 20), author: 'Ursula K. Le Guin', published_date }
}

function itemOf(random: Random): Fields {
  const price = random.pick([0, -0, 24.5, 0.1 + 0.2, 1e12, 5e-324, random.next() * 1000])
  const category = random.pick([null, 'lighting', '\u{1f4a1}'])
  return { name: randomText(random, 20), price, ...(random.oneIn(2) && { category }) }
}

function userOf(random: Random): Fields {
  // A valid password costs a hash of 19 MiB, so most are invalid.
  const password = random.oneIn(15) ? SECRET : random.pick([SECRET.repeat(100), 8, null, [SECRET]])
  return {
    [random.oneIn(10) ? 'username' : 'name']: randomText(random, 20),
    email: random.oneIn(20) ? 'Ada@example.com' : `a${random.int(1, 1e9)}@example.com`,
    ...(random.oneIn(2) && { role: random.pick(['admin', 'user']) }),
    ...(random.oneIn(2) && { age: random.pick([null, 0, 36, 150]) }),
    ...(random.oneIn(3) && { status: random.pick(['active', 'inactive']) }),
    ...(random.oneIn(8) && { password }),
  }
}

/** One to five users, or an invalid bulk body. */
export function bulkOf(random: Random, path: string): unknown {
  if (random.oneIn(6))
    return random.pick([[], {}, [[]], [null], 1, '', { users: [] }, new Array(1001).fill({}), [1, 'a']])
  return Array.from({ length: random.int(1, 5) }, () =>
    random.oneIn(4) ? mutated(random, fieldsOf(random, path)) : fieldsOf(random, path),
  )
}

/** `fields`, one time in three with wrong values or unknown fields. */
export function mutated(random: Random, fields: Fields): unknown {
  if (random.oneIn(30)) return random.pick(JSON_VALUES)
  const strange = ['id', 'version', 'extra', 'idempotency_key', 'if_version', '']
  for (let count = random.oneIn(3) ? random.int(1, 3) : 0; count > 0; count--) {
    fields[random.pick(random.oneIn(6) ? strange : Object.keys(fields))] = random.pick(JSON_VALUES)
  }
  return fields
}

/** JSON text with an error in it. */
export function brokenText(random: Random, text: string): string | Buffer {
  const at = random.int(0, text.length)
  const deep = random.pick([31, 32, 33, 1000, 100_000])
  return random.pick([
    () => text.slice(0, at),
    () => `${text}${text}`,
    () => `${text.slice(0, at)}${random.pick(['"', '{', '\\', '\0', '\u2028', ',', '\ufeff'])}${text.slice(at)}`,
    () => `\ufeff${text}`,
    () => Buffer.from(text, 'utf16le'),
    () =>
      Buffer.concat([
        Buffer.from(text.slice(0, at)),
        Buffer.from([random.int(0x80, 0xff)]),
        Buffer.from(text.slice(at)),
      ]),
    () => `{"__proto__":{"isAdmin":true},"name":"a",${text.slice(1)}`,
    () => text.replace('{', '{"name":1,"name":"b",'),
    () => text.replace(/\d+/, random.pick(['1e400', '-1e400', '01', '0x1', 'NaN', '9'.repeat(500)])),
    () => `${'['.repeat(deep)}${']'.repeat(deep)}`,
    () => `{"name":${'{"a":'.repeat(deep)}1${'}'.repeat(deep)},"email":"a@b.co","price":1}`,
    () => random.pick(BODIES),
  ])()
}

/** Text of 1 to `longest` characters. */
export function randomText(random: Random, longest: number): string {
  return `t${Array.from({ length: random.int(0, longest - 1) }, () => random.pick(CHARACTERS)).join('')}`
}
