import { ServiceError } from '@resource/client'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { queryClient } from '../query-client.ts'
import { calls } from './calls.ts'
import { resources } from './index.ts'
import { isId, type Noun, nameOf, type Resource, type Row } from './resource.ts'

// Live changes keep it true before.
const STALE_AFTER_MS = 60_000
const UNREADABLE = [403, 404]

/** The query of a record that others refer to; null if the user may not read it. Queries of one moment are one request. */
function referredOf(noun: Noun, id: number) {
  return queryOptions<Row | null>({
    queryKey: [noun, 'referred', id],
    queryFn: async ({ signal }) => {
      try {
        return await calls(noun).get.query({ id }, { signal })
      } catch (error) {
        if (error instanceof ServiceError && UNREADABLE.includes(error.status)) return null
        throw error
      }
    },
    staleTime: STALE_AFTER_MS,
  })
}

/** Reads the records that these refer to, so that they show with their labels. */
export async function readReferred({ references }: Resource, rows: Row[]): Promise<void> {
  const reads = Object.entries(references).flatMap(([field, noun]) =>
    rows
      .filter((row) => isId(row[field]))
      .map((row) => queryClient.prefetchQuery(referredOf(noun, Number(row[field])))),
  )
  await Promise.all(reads)
}

/** The label of a value that may refer to a record: its name, or the value until it is read and if it cannot be. */
export function useLabel(noun: Noun | undefined, value: unknown): string {
  useQuery({ ...referredOf(noun ?? 'users', Number(value)), enabled: noun !== undefined && isId(value) })
  return labelOf(noun, value)
}

/** As {@link useLabel}, of what has been read. */
export function labelOf(noun: Noun | undefined, value: unknown): string {
  const row = noun && queryClient.getQueryData(referredOf(noun, Number(value)).queryKey)
  const resource = resources.find((resource) => resource.noun === noun)
  return row && resource ? nameOf(resource, row) : String(value)
}
