import type { Ledger } from './writers.ts'

export interface Differences {
  /** Acknowledged, but missing or different in the database. */
  lost: string[]
  /** Stored without acknowledgment, or written twice. */
  duplicated: string[]
}

/** Compares the stored records with the acknowledged ones. */
export async function compareStored(
  url: string,
  { items, users }: Pick<Ledger, 'items' | 'users'>,
): Promise<Differences> {
  const differences: Differences = { lost: [], duplicated: [] }
  compare(await storedRecords(url, 'items'), items, ['name', 'price', 'version'], differences)
  compare(await storedRecords(url, 'users'), users, ['name', 'email'], differences)
  return differences
}

type Stored = { id: number } & Record<string, unknown>

function compare<Acknowledged extends { id: number }>(
  stored: Stored[],
  acknowledged: Map<number, Acknowledged>,
  fields: (keyof Acknowledged & string)[],
  { lost, duplicated }: Differences,
): void {
  const found = new Map(stored.map((record) => [record.id, record]))
  for (const record of acknowledged.values()) {
    const now = found.get(record.id)
    if (now === undefined || fields.some((field) => now[field] !== record[field])) {
      lost.push(`${JSON.stringify(record)} is stored as ${JSON.stringify(now)}`)
    }
  }
  for (const record of stored) if (!acknowledged.has(record.id)) duplicated.push(JSON.stringify(record))
}

/** Over tRPC, which returns the version: a change applied twice increments it twice. */
export async function storedRecords(url: string, noun: 'items' | 'users'): Promise<Stored[]> {
  const records: Stored[] = []
  for (let after: string | null = ''; after !== null; ) {
    const input: string = encodeURIComponent(JSON.stringify({ after, limit: 1000 }))
    const response = await fetch(`${url}/trpc/${noun}.list?input=${input}`)
    const { result } = (await response.json()) as {
      result: { data: { items?: Stored[]; users?: Stored[]; next: string | null } }
    }
    records.push(...(result.data[noun] ?? []))
    after = result.data.next
  }
  return records
}
