import type { Client } from '@resource/client'
import type { WritableNoun } from '@resource/contract'
import { createLocalClient } from '../local.ts'

/** What `create` takes, by noun; ids are given in this order, from 1. */
export type Seed = { [N in WritableNoun]?: Parameters<Client[N]['create']['mutate']>[0][] }

/** Creates the records by the service's own rules. */
export async function storeSeed(databaseUrl: string, seed: Seed): Promise<void> {
  await using client = await createLocalClient({ databaseUrl })
  for (const noun of Object.keys(seed) as (keyof Seed)[]) {
    // Each noun's `create` takes that noun's records, which the compiler cannot follow through a loop.
    const { create } = client[noun] as unknown as { create: { mutate: (record: unknown) => Promise<unknown> } }
    for (const record of seed[noun] ?? []) await create.mutate(record)
  }
}
