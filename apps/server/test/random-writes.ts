import type { Client } from '@resource/client'
import type { Random } from './fuzz/random.ts'

/** A write by the name of its procedure. */
export interface RandomWrite {
  operation: string
  input: Record<string, unknown>
}

type Row = Record<string, unknown> & { id: number }
/** The records of each resource, by resource and id: `items 3`. */
export type Snapshot = Map<string, Row>

/** The key of the test is the first one. */
const OWN_KEY = 'keys 1'
/** The newest records of a resource, which writes name. */
const MOST_WRITTEN = 4
const RESOURCES = ['users', 'books', 'items', 'keys'] as const

/** A write of any procedure, mostly of stored records. Few names, so that writes take each other's values. */
export function randomWrite(random: Random, stored: Snapshot): RandomWrite {
  const email = () => `user${random.int(1, 15)}@example.com`
  const namesOf = (noun: string) => [...stored.keys()].filter((name) => name.startsWith(noun)).slice(-MOST_WRITTEN)
  const idOf = (noun: string) => {
    const names = namesOf(noun)
    return names.length === 0 || random.oneIn(20) ? random.int(2, 99) : (stored.get(random.pick(names))?.id ?? 99)
  }
  const maybe = <T>(value: T): T | undefined => (random.oneIn(2) ? value : undefined)
  const user = () => ({
    name: random.pick(['Ada', 'Bo', 'Cy']),
    email: email(),
    role: maybe(random.pick(['user', 'admin'])),
    status: maybe(random.pick(['active', 'inactive'])),
    age: maybe(random.int(1, 90)),
    password: random.oneIn(12) ? 'a rather long password' : undefined,
  })
  const book = () => ({
    title: random.pick(['Emma', 'Dune']),
    author: random.pick(['A', 'B']),
    published_date: '1965-08-01',
  })
  const item = () => ({
    name: random.pick(['Lamp', 'Rug']),
    price: random.int(1, 5),
    category: random.pick(['x', null]),
  })
  const some = <T>(make: () => T): T[] => Array.from({ length: random.int(1, 4) }, make)
  const changes = <T extends object>(fields: T) =>
    Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && random.oneIn(2)))
  const partial = random.oneIn(3)
  const makers: Record<string, () => Record<string, unknown>> = {
    'users.create': user,
    'users.replace': () => ({ id: idOf('users'), ...user(), status: 'active' }),
    'users.update': () => ({ id: idOf('users'), ...changes(user()) }),
    'users.delete': () => ({ id: idOf('users') }),
    'users.setStatus': () => ({ id: idOf('users'), status: random.pick(['active', 'inactive']) }),
    'users.createMany': () => ({ users: some(user) }),
    'users.updateMany': () =>
      random.oneIn(2)
        ? { users: some(() => ({ id: idOf('users'), ...changes(user()) })), partial }
        : { users: some(user), key: 'email', create: true, partial },
    'users.deleteWhere': () => ({ status: random.pick(['inactive', 'active']) }),
    'books.create': book,
    'books.replace': () => ({ id: idOf('books'), ...book() }),
    'books.delete': () => ({ id: idOf('books') }),
    'books.createMany': () => ({ books: some(book) }),
    'books.updateMany': () => ({ books: some(() => ({ id: idOf('books'), ...changes(book()) })), partial }),
    'items.create': item,
    'items.update': () => ({ id: idOf('items'), ...changes(item()) }),
    'items.createMany': () => ({ items: some(item) }),
    'items.updateWhere': () => ({
      category: 'x',
      changes: { set: { name: 'Sun' }, multiply: { price: random.pick([1, 2]) } },
    }),
    'items.deleteWhere': () => ({ id_in: [idOf('items'), idOf('items')] }),
    'keys.create': () => ({ name: random.pick(['a', 'b']), role: random.pick(['reader', 'writer']) }),
    'keys.rotate': () => ({ id: idOf('keys'), grace: random.pick([0, 60]) }),
    'keys.revoke': () => ({ id: idOf('keys') }),
  }
  const operation = random.pick(Object.keys(makers))
  return { operation, input: JSON.parse(JSON.stringify(makers[operation]?.())) }
}

/** Calls a procedure that writes. */
export async function write(client: Client, { operation, input }: RandomWrite, options: object = {}): Promise<unknown> {
  const [noun = '', verb = ''] = operation.split('.')
  return Reflect.get(Reflect.get(client, noun), verb).mutate(input, options)
}

/** All records, as the service shows them. */
export async function snapshot(client: Client): Promise<Snapshot> {
  const lists = await Promise.all(
    RESOURCES.map(async (noun) => {
      const { [noun]: rows } = (await client[noun].list.query({ limit: 1_000 })) as unknown as Record<string, Row[]>
      return (rows ?? []).map((row): [string, Row] => [`${noun} ${row.id}`, row])
    }),
  )
  // The service notes when the key of the test was last used.
  return new Map(lists.flat().filter(([name]) => name !== OWN_KEY))
}
