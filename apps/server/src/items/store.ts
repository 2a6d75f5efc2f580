import type { Input, Output } from '@resource/contract'
import type { Item, PrismaClient, Transaction } from '@resource/database'
import { defined } from '../store/defined.ts'
import { readPage, type SortColumn } from '../store/page.ts'
import { deleteVersioned, type IfVersion, notFound, updateVersioned } from '../store/versioned.ts'

export type ItemRecord = Output<'items', 'get'>
export type ItemFields = Pick<ItemRecord, 'name' | 'price' | 'category'>

const columns: Record<string, SortColumn> = {
  id: { column: 'id', kind: 'int' },
  name: { column: 'name', kind: 'text' },
  price: { column: 'price', kind: 'float' },
  category: { column: 'category', kind: 'text?' },
}

export async function listItems(db: PrismaClient, { category, price_lt, ...page }: Input<'items', 'list'>) {
  const where = { ...defined({ category }), ...(price_lt !== undefined && { price: { lt: price_lt } }) }
  const { rows, facts } = await readPage<Item>(db.item, where, columns, page)
  return { items: rows.map(present), ...facts }
}

/** @throws Problem 404 */
export async function findItem(db: PrismaClient, id: number): Promise<ItemRecord> {
  const row = await db.item.findUnique({ where: { id } })
  if (row === null) throw notFound('Item')
  return present(row)
}

export async function insertItem(tx: Transaction, data: ItemFields): Promise<ItemRecord> {
  return present(await tx.item.create({ data }))
}

/**
 * Stores all items or none.
 *
 * @returns the records in the order given, which is that of their ids
 */
export async function insertItems(tx: Transaction, data: ItemFields[]): Promise<ItemRecord[]> {
  const rows = await tx.item.createManyAndReturn({ data })
  return rows.sort((a, b) => a.id - b.id).map(present)
}

/** @throws Problem 404 or 412 */
export async function updateItem(
  tx: Transaction,
  id: number,
  ifVersion: IfVersion,
  changes: { [F in keyof ItemFields]?: ItemFields[F] | undefined },
): Promise<ItemRecord> {
  return present(await updateVersioned<Item>(tx.item, 'Item', id, ifVersion, defined(changes)))
}

/** @throws Problem 404 or 412 */
export async function deleteItem(tx: Transaction, id: number, ifVersion: IfVersion): Promise<void> {
  await deleteVersioned(tx.item, 'Item', id, ifVersion)
}

function present({ id, name, price, category, version }: Item): ItemRecord {
  return { id, name, price, category, version }
}
