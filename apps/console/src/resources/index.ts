import { books } from './books.ts'
import { items } from './items.ts'
import type { Resource } from './resource.ts'
import { users } from './users.ts'

/** Every noun with a page, in the order of the navigation. */
export const resources: Resource[] = [users, books, items]
