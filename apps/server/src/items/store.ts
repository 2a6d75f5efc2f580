import type { Input, Output } from '@resource/contract'
import type { Changes, Item, Tables } from '@resource/database'
import { readPage } from '../store/page.ts'
import { deleteVersioned, type IfVersion, notFound, updateVersioned } from '../store/versioned.ts'

export type ItemRecord = Output<'items', 'get'>
export type ItemFields = Pick<ItemRecord, 'name' | 'price' | 'category'>

const sortable = { id: 'id', name: 'name', price: 'price', category: 'category' } as const

export async function listItems(db: Tables, { category, price_lt, ...page }: Input<'items', 'list'>) {
  const { rows, facts } = await readPage(db.items, { category, price: { lt: price_lt } }, sortable, page)
  return { items: rows.map(present), ...facts }
}

/** @throws Problem 404 */
export async function findItem(db: Tables, id: number): Promise<ItemRecord> {
  const row = await db.items.find({ id })
  if (row === undefined) throw notFound('Item')
  return present(row)
}

export async function insertItem(tx: Tables, data: ItemFields): Promise<ItemRecord> {
  return present(await tx.items.insert(data))
}

/**
 * Stores all items or none.
 *
 * @returns the records in the order given, which is that of their ids
 */
export async function insertItems(tx: Tables, data: ItemFields[]): Promise<ItemRecord[]> {
  return (await tx.items.insertMany(data)).map(present)
}

/** @throws Problem 404 or 412 */
export async function updateItem(
  tx: Tables,
  id: number,
  ifVersion: IfVersion,
  changes: Changes<ItemFields>,
): Promise<ItemRecord> {
  return present(await updateVersioned(tx.items, 'Item', id, ifVersion, changes))
}

/** @throws Problem 404 or 412 */
export async function deleteItem(tx: Tables, id: number, ifVersion: IfVersion): Promise<void> {
  await deleteVersioned(tx.items, 'Item', id, ifVersion)
}

function present({ id, name, price, category, version }: Item): ItemRecord {
  return { id, name, price, category, version }
}
