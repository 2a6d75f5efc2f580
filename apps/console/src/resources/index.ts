import { contract } from '@resource/contract'
import { describe } from './describe.ts'
import type { Noun, Overrides, Resource } from './resource.ts'
import { users } from './users.ts'

const overrides: { [N in Noun]?: Overrides<N> } = {
  users,
  books: { labels: { published_date: 'Published' } },
  items: { kinds: { category: 'choice' } },
}

/** All nouns with a page, in navigation order. */
export const resources: Resource[] = Object.entries(contract).flatMap(([name, resource]) => {
  const noun = name as Noun
  return 'collection' in resource ? [describe(noun, resource.collection, overrides[noun])] : []
})
