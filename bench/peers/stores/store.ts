import { hash } from '@node-rs/argon2'
import { searchKey } from '../rules.ts'
import type {
  Book,
  FullUser,
  Item,
  ItemChanges,
  ListQuery,
  NewBook,
  NewUser,
  UserDetail,
  UserSummary,
} from '../schemas.ts'

/** The database operations of a peer. */
export interface Store {
  findUser: (id: number) => Promise<FullUser | undefined>
  listUsers: (query: ListQuery) => Promise<UserSummary[]>
  insertBook: (book: NewBook) => Promise<Book>
  updateItem: (id: number, changes: ItemChanges) => Promise<Item | undefined>
  /** Inserts all users or none; returns undefined when an e-mail address is in use. */
  insertUsers: (users: NewUser[]) => Promise<UserDetail[] | undefined>
}

/** Column values of new users, with hashed passwords. */
export async function userRows(users: NewUser[]) {
  const now = new Date()
  const hashes = await Promise.all(users.map(({ password }) => (password === undefined ? null : hash(password))))
  return users.map(({ name, email, role, status, age }, index) => ({
    name,
    name_key: searchKey(name),
    email,
    email_key: searchKey(email),
    password_hash: hashes[index] ?? null,
    role,
    status,
    age,
    version: 1,
    created_at: now,
    updated_at: now,
  }))
}

/** Column values of a new book. */
export function bookRow(book: NewBook) {
  return { ...book, title_key: searchKey(book.title), author_key: searchKey(book.author) }
}

/** Column values of changes to an item; those of absent fields are undefined. */
export function itemRow({ name, price, category }: ItemChanges) {
  return { name, name_key: name === undefined ? undefined : searchKey(name), price, category }
}

/** Splits a sort value such as `created_at_desc` into column and direction. */
export function sorting(sort: ListQuery['sort']) {
  const split = sort.lastIndexOf('_')
  return {
    column: sort.slice(0, split) as keyof Omit<FullUser, 'version'>,
    direction: sort.slice(split + 1) as 'asc' | 'desc',
  }
}
