import { books } from './books.ts'
import { items } from './items.ts'
import { keys } from './keys.ts'
import { users } from './users.ts'

/** The resources whose records can be changed through the API. The audit log covers exactly these. */
export const writable = { users, books, items, keys }
