import type { Ledger } from './writers.ts'

export interface Differences {
  /** Acknowledged, and not there or not so. */
  lost: string[]
  /** There, and never acknowledged; or written twice. */
  doubled: string[]
}

/** What the service holds beside what it acknowledged, record by record. */
export async function compareStored(url: string, { items, users }: Ledger): Promise<Differences> {
  const differences: Differences = { lost: [], doubled: [] }
  compare(await all(url, 'items'), items, ['name', 'price', 'version'], differences)
  compare(await all(url, 'users'), users, ['name', 'email'], differences)
  return differences
}

type Stored = { id: number } & Record<string, unknown>

function compare<Told extends { id: number }>(
  stored: Stored[],
  told: Map<number, Told>,
  fields: (keyof Told & string)[],
  { lost, doubled }: Differences,
): void {
  const found = new Map(stored.map((record) => [record.id, record]))
  for (const record of told.values()) {
    const now = found.get(record.id)
    if (now === undefined || fields.some((field) => now[field] !== record[field])) {
      lost.push(`${JSON.stringify(record)} is ${JSON.stringify(now)}`)
    }
  }
  for (const record of stored) if (!told.has(record.id)) doubled.push(JSON.stringify(record))
}

// Over tRPC, which shows the version: a change made twice counts twice.
async function all(url: string, noun: 'items' | 'users'): Promise<Stored[]> {
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
