import { hash } from '@node-rs/argon2'
import type {
  Book,
  Item,
  ItemChanges,
  ListQuery,
  NewBook,
  NewUser,
  UserDetail,
  UserSummary,
  FullUser,
} from '../schemas.ts'

/** What a peer does with its database. */
export interface Store {
  findUser: (id: number) => Promise<FullUser | undefined>
  listUsers: (query: ListQuery) => Promise<UserSummary[]>
  insertBook: (book: NewBook) => Promise<Book>
  updateItem: (id: number, changes: ItemChanges) => Promise<Item | undefined>
  /** All or none; undefined when an e-mail address is taken. */
  insertUsers: (users: NewUser[]) => Promise<UserDetail[] | undefined>
}

/** What is stored of new users. */
export async function userRows(users: NewUser[]) {
  const now = new Date()
  const hashes = await Promise.all(users.map(({ password }) => (password === undefined ? null : hash(password))))
  return users.map(({ name, email, role, status, age }, index) => ({
    name,
    email,
    email_key: email.toLowerCase(),
    password_hash: hashes[index] ?? null,
    role,
    status,
    age,
    version: 1,
    created_at: now,
    updated_at: now,
  }))
}

/** `price_desc` as its parts. */
export function sorting(sort: ListQuery['sort']) {
  const split = sort.lastIndexOf('_')
  return {
    column: sort.slice(0, split) as keyof Omit<FullUser, 'version'>,
    direction: sort.slice(split + 1) as 'asc' | 'desc',
  }
}
