import type { Contract, WritableNoun } from '@resource/contract'
import type { z } from 'zod'
import { createLocalClient } from '../local.ts'

/** Inputs of `create`, by collection. Ids are assigned in this order, from 1. */
export type Seed = { [N in WritableNoun]?: z.input<Contract[N]['procedures']['create']['input']>[] }

/** Creates the records through the service, with all its rules. */
export async function storeSeed(databaseUrl: string, seed: Seed): Promise<void> {
  await using client = await createLocalClient({ databaseUrl })
  for (const noun of Object.keys(seed) as (keyof Seed)[]) {
    // The compiler cannot relate each `create` to the records of its own collection in a loop.
    const { create } = client[noun] as unknown as { create: { mutate: (record: unknown) => Promise<unknown> } }
    for (const record of seed[noun] ?? []) await create.mutate(record)
  }
}
