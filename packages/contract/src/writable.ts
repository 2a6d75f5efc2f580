import { books } from './books.ts'
import { items } from './items.ts'
import { keys } from './keys.ts'
import { sessions } from './sessions.ts'
import { users } from './users.ts'

/** The resources whose records can be created through the API. */
export const writable = { users, books, items, keys }

/** The resources whose changes the audit log records. */
export const audited = { ...writable, sessions }

/** The resources without personal data: browsers may store their answers, and ask whether they still hold. */
export const impersonal: (keyof typeof writable)[] = ['books', 'items']
