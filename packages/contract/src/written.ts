import { books } from './books.ts'
import { items } from './items.ts'
import { keys } from './keys.ts'
import { users } from './users.ts'

/** The resources whose records can be written: the audit log tells of them. */
export const written = { users, books, items, keys }
