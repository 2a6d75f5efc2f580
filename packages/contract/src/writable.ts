import { books } from './books.ts'
import { items } from './items.ts'
import { keys } from './keys.ts'
import { users } from './users.ts'

/** The resources whose records can be changed through the API. The audit log covers exactly these. */
export const writable = { users, books, items, keys }

/** The resources without personal data: browsers may store their answers, and ask whether they still hold. */
export const impersonal: (keyof typeof writable)[] = ['books', 'items']
