import type { Changes, Entity, ListTable, NewRow, RecordTable, Table } from '../src/tables/types.ts'

// Single forms of `write`, for tests of what it does.

export async function insertOne<Row>(table: Table<Row>, create: NewRow<Row>): Promise<Row> {
  const [{ after }] = await table.write([{ create }])
  return after
}

export async function insertMany<Row extends Pick<Entity, 'id'>>(
  table: ListTable<Row>,
  rows: NewRow<Row>[],
): Promise<Row[]> {
  return (await table.write(rows.map((create) => ({ create })))).map(({ after }) => after)
}

export async function update<Row extends Entity>(
  table: RecordTable<Row>,
  id: number,
  versions: number[] | undefined,
  change: Changes<Row>,
) {
  return (await table.write([{ id, versions, change }]))[0]
}

export async function remove<Row extends Entity>(table: RecordTable<Row>, id: number, versions: number[] | undefined) {
  return (await table.write([{ id, versions, delete: true }]))[0]?.before
}

export async function removeMany<Row extends Entity>(table: RecordTable<Row>, ids: number[]): Promise<Row[]> {
  const removed = await table.write(ids.map((id) => ({ id, delete: true })))
  return removed.flatMap((row) => row?.before ?? [])
}

/** A barrier that blocks until `size` callers have arrived; later callers do not wait. */
export function barrier(size: number): () => Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let arrived = 0
  return () => {
    if (++arrived === size) resolve()
    return promise
  }
}
