import type { Client } from '@resource/client'
import { createLocalClient } from '../local.ts'

type Nouns = { [N in 'users' | 'books' | 'items']: Parameters<Client[N]['create']['mutate']>[0][] }

/** What `create` takes, by noun; ids are given in this order, from 1. */
export type Records = Partial<Nouns>

/** Creates the records by the service's own rules. */
export async function storeRecords(databaseUrl: string, records: Records): Promise<void> {
  await using client = await createLocalClient({ databaseUrl })
  for (const user of records.users ?? []) await client.users.create.mutate(user)
  for (const book of records.books ?? []) await client.books.create.mutate(book)
  for (const item of records.items ?? []) await client.items.create.mutate(item)
}
