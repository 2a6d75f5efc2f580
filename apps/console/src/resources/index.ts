import { contract } from '@resource/contract'
import { books } from './books.ts'
import { items } from './items.ts'
import { describeCollection, type Noun, type Resource } from './resource.ts'
import { users } from './users.ts'

// A collection needs a description only where its page is not the usual one.
const described: { [N in Noun]?: Resource } = { users, books, items }

/** Every noun with a page, in the order of the navigation. */
export const resources: Resource[] = Object.entries(contract).flatMap(([noun, resource]) =>
  'collection' in resource ? [described[noun as Noun] ?? describeCollection(noun as Noun, resource.collection)] : [],
)
