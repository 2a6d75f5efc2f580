import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { engines } from '../../scripts/models.ts'
import { newUser, temporaryDatabase } from '../../test/database.ts'
import { openDatabase } from '../../test/everywhere.ts'
import { explainedTables } from '../../test/plans.ts'
import { insertMany, update } from '../../test/rows.ts'
import { keysetRanges, searchKey, type User, type Where } from '../index.ts'
import type { Order } from './types.ts'

test('a search key is in lower case, with one space between words', () => {
  expect([searchKey('ΟΔΥΣΣ'), searchKey('ΟΔΥΣΣΕΥΣ Οδυσσεύς')]).toEqual(['οδυσσ', 'οδυσσευσ οδυσσεύσ'])
  expect(searchKey('  Ångström\t\u00a0ÉMILE\u3000ЖУК \n')).toBe('ångström émile жук')
})

test.each([
  ['İstanbul ISPARTA', 'istanbul ısparta', 'istanbul isparta'],
  ['Straße', 'STRAẞE', 'strasse'],
  ['ΟΔΥΣΣΕΎΣ ᾳ', 'Οδυσσεύς ΑΙ', 'οδυσσεύσ αι'],
  ['Į̇́ Ì J̇', 'į̇́ i̇̀ j̇', 'į́ ì j'],
  ['ﬁn ǅ ŉ', 'FIN ǆ ʼN', 'fin ǆ ʼn'],
  ['Jose\u0301 \u212b', 'JOSÉ Å', 'josé å'],
  ['\u1112\u1161\u11ab', '한', '한'],
  ['n\u0303', 'Ñ', 'ñ'],
])('the search keys of %s and %s are %s', (one, other, key) => {
  expect([searchKey(one), searchKey(other), searchKey(key)]).toEqual([key, key, key])
})

test('a search key tells letters with and without an accent apart', () => {
  expect([searchKey('jose'), searchKey('Ż')]).toEqual(['jose', 'ż'])
})

test('a search key has a filler next to each letter of a script without spaces, in the middle of a word', () => {
  expect(searchKey('我爱ABC 京。x')).toBe('我_爱_abc 京_。x'.replaceAll('_', '\u3164'))
  expect(searchKey('北\u3164京')).toBe(searchKey('北京'))
})

test('search keys fold case fully, for every code point, and tell all other letters but ı apart', () => {
  const foldings = new Map(
    readFileSync(new URL('../../test/case-folding.txt', import.meta.url), 'utf8')
      .split('\n')
      .filter((line) => /^[0-9A-F]/.test(line))
      .map((line) => line.split(/;? /).map((point) => String.fromCodePoint(Number.parseInt(point, 16))))
      .map(([from, ...to]) => [from, to.join('')]),
  )
  expect(foldings.size).toBe(1585)
  const folded = (text: string) => [...text.normalize('NFD')].map((letter) => foldings.get(letter) ?? letter).join('')
  const known = new Map<string, string>()
  const wrong: string[] = []
  const merged: string[] = []
  for (let point = 0x21; point < 0x110000; point++) {
    const letter = String.fromCodePoint(point)
    if (/[\p{Cn}\p{Co}\p{Cs}\s\u3164]/u.test(letter)) continue
    const key = searchKey(`x${letter}x`)
    const others = [folded(letter), letter.toUpperCase(), letter.toLowerCase(), letter.normalize('NFD')]
    const isSame = others.every((other) => other === letter || searchKey(`x${other}x`) === key)
    if (!isSame || searchKey(key) !== key) wrong.push(letter)
    const same = known.get(key)
    const own = folded(letter).normalize('NFD')
    if (same !== undefined && same !== own) merged.push(letter)
    known.set(key, same ?? own)
  }
  expect([wrong, merged]).toEqual([[], ['İ', 'ı']])
})

test('on SQLite a search for rare words starts at the full-text index, and a count looks words up in it', async () => {
  await using database = await temporaryDatabase()
  const { read, plans, close } = explainedTables(`file:${database.file}`)
  const where = { name_key: { contains: { words: ['ada'] } }, role: 'user' }
  await read.users.page({ where, order: { column: 'name', descending: false }, take: 9 })
  const [, page] = plans
  expect(page?.steps.slice(0, 3)).toEqual([
    'SEARCH users USING INTEGER PRIMARY KEY (rowid=?)',
    'LIST SUBQUERY 1',
    expect.stringContaining('users_search VIRTUAL TABLE INDEX'),
  ])
  await read.users.count(where)
  expect(plans.at(-1)?.steps).toContainEqual(expect.stringContaining('users_search VIRTUAL TABLE INDEX'))
  await close()
})

describe.each(engines)('on %s', (engine) => {
  test('a search returns what a search of an array returns, with filters, sorts, pages and cursors', async () => {
    await using database = await openDatabase(engine)
    const random = randomOf(7)
    const names = Array.from({ length: 300 }, () => nameOf(random))
    const rows = await database.write((tx) =>
      insertMany(
        tx.users,
        names.map((name, n) => ({
          ...newUser(`u${n}`),
          name,
          name_key: searchKey(name),
          role: random(3) === 0 ? 'admin' : 'user',
          age: random(4) === 0 ? null : random(20),
        })),
      ),
    )
    const { users } = database.read
    for (let round = 0; round < 150; round++) {
      const search = searchOf(random)
      const where: Where<User> = {
        name_key: { contains: search },
        ...(random(3) === 0 && { role: 'admin' }),
        ...(random(3) === 0 && { age: { gte: random(20) } }),
      }
      const order: Order<User> = {
        column: (['id', 'name', 'age', 'role'] as const)[random(4)] ?? 'id',
        descending: random(2) === 0,
      }
      const expected = rows
        .filter((row) => matches(row, where))
        .sort(comparison(order))
        .map(({ id }) => id)
      const [skip, take] = [random(5), 1 + random(12)]
      const what = JSON.stringify({ where, order, skip, take })
      const page = await users.page({ where, order, skip, take })
      expect([what, page.map(({ id }) => id)]).toEqual([what, expected.slice(skip, skip + take)])
      expect([what, await users.count(where)]).toEqual([what, expected.length])
      const last = page.at(-1)
      if (last === undefined) continue
      const position = { id: last.id, key: last[order.column] }
      const seek = keysetRanges<User>(where, order, users.columns[order.column], position)
      const next = await users.page({ where, order, seek, take })
      const at = expected.indexOf(last.id) + 1
      expect([what, next.map(({ id }) => id)]).toEqual([what, expected.slice(at, at + take)])
    }
  })

  test('a search of 200 characters finds its row, as one word and as many', async () => {
    await using database = await openDatabase(engine)
    const from = (first: number) => Array.from({ length: 200 }, (_, n) => String.fromCodePoint(first + n)).join('')
    const letters = from(0x4e00)
    const pairs = from(0x1401).match(/../gu) ?? []
    await database.write((tx) => insertMany(tx.users, [newUser(letters), newUser(pairs.join(' '))]))
    const find = (words: string[]) =>
      database.read.users.find({ name_key: { contains: { words: words.map(searchKey) } } }, ['id'])
    expect(await find([letters])).toEqual({ id: 1 })
    expect(await find(pairs.slice(0, 67))).toEqual({ id: 2 })
  })

  test('an updated row is found by its new text only, and a deleted one is not found', async () => {
    await using database = await openDatabase(engine)
    await database.write((tx) => insertMany(tx.users, ['ada lovelace', 'ada byron', 'grace'].map(newUser)))
    const found = async (...words: string[]) => {
      const where = { name_key: { contains: { words } } }
      const page = await database.read.users.page({ where, order: { column: 'id', descending: false }, take: 9 })
      expect(await database.read.users.count(where)).toBe(page.length)
      return page.map(({ id }) => id)
    }
    expect(await found('ada')).toEqual([1, 2])
    await database.write((tx) => update(tx.users, 2, undefined, { name_key: 'grace hopper' }))
    await database.write((tx) => update(tx.users, 1, undefined, { age: 3 }))
    expect(await found('ada')).toEqual([1])
    expect(await found('byron')).toEqual([])
    expect(await found('hop', 'grace')).toEqual([2])
    expect(await database.write((tx) => tx.users.deleteAll({ name_key: { contains: { words: ['love'] } } }))).toBe(1)
    expect(await found('ada')).toEqual([])
    expect(await found('gr')).toEqual([2, 3])
  })
})

const WORDS = [
  'ada',
  'Ädam',
  'love',
  'LACE',
  '100%',
  'a_b',
  "o'neil",
  '"x"',
  'back\\slash',
  '漢字',
  '漢字仮名',
  '한국어',
  'ไทย',
  'Straße',
  'I\u0307i',
  'é\u0323',
  '😀😀😀',
  'жук',
  'ab',
  'абв',
  '-',
  'OR',
  'and',
  '(',
  '*',
]

function nameOf(random: (below: number) => number): string {
  return Array.from(
    { length: 1 + random(3) },
    () => WORDS[random(WORDS.length)] + (random(3) === 0 ? (WORDS[random(WORDS.length)] ?? '') : ''),
  ).join(random(4) === 0 ? '  ' : ' ')
}

/** One or two words of two or more characters, most of them in some name. */
function searchOf(random: (below: number) => number) {
  const words = Array.from({ length: 1 + random(2) }, () => {
    const characters = [...searchKey(WORDS[random(WORDS.length)] + (WORDS[random(WORDS.length)] ?? ''))]
    const start = random(Math.max(1, characters.length - 2))
    return characters.slice(start, start + 2 + random(4)).join('')
  }).filter((word) => [...word].length >= 2)
  const columns = [undefined, ['name_key', 'email_key'], ['email_key', 'name_key'], ['name_key']][random(4)]
  return { words: words.length === 0 ? ['ada'] : words, columns }
}

function matches(row: User, { name_key, role, age }: Where<User>): boolean {
  const { words, columns = ['name_key'] } = (name_key as { contains: { words: string[]; columns?: string[] } }).contains
  const found = words.every((word) =>
    columns.some((column) => {
      const text = row[column as 'name_key']
      return [...word].length > 2 ? text.includes(word) : ` ${text}`.includes(` ${word}`)
    }),
  )
  const least = (age as { gte: number } | undefined)?.gte
  return (
    found &&
    (role === undefined || row.role === role) &&
    (least === undefined || (row.age !== null && row.age >= least))
  )
}

/** By code point; null below every value; ties by ascending id. */
function comparison({ column, descending }: Order<User>) {
  const compare = (a: unknown, b: unknown) => {
    if (a === b) return 0
    if (a === null || b === null) return a === null ? -1 : 1
    if (typeof a === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b as string))
    return (a as number) - (b as number)
  }
  return (a: User, b: User) => compare(a[column], b[column]) * (descending ? -1 : 1) || a.id - b.id
}

/** A deterministic sequence of integers. */
function randomOf(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return (state >> 8) % below
  }
}
