import type { Input, Output } from '@resource/contract'
import type { Book, PrismaClient, Transaction } from '@resource/database'
import { readPage, type SortColumn } from '../store/page.ts'
import { deleteVersioned, type IfVersion, notFound, updateVersioned } from '../store/versioned.ts'

export type BookRecord = Output<'books', 'get'>
export type BookFields = Pick<BookRecord, 'title' | 'author' | 'published_date'>

const columns: Record<string, SortColumn> = {
  id: { column: 'id', kind: 'int' },
  title: { column: 'title', kind: 'text' },
  author: { column: 'author', kind: 'text' },
  published_date: { column: 'published_date', kind: 'text' },
}

export async function listBooks(db: PrismaClient, page: Input<'books', 'list'>) {
  const { rows, facts } = await readPage<Book>(db.book, {}, columns, page)
  return { books: rows.map(present), ...facts }
}

/** @throws Problem 404 */
export async function findBook(db: PrismaClient, id: number): Promise<BookRecord> {
  const row = await db.book.findUnique({ where: { id } })
  if (row === null) throw notFound('Book')
  return present(row)
}

export async function insertBook(tx: Transaction, data: BookFields): Promise<BookRecord> {
  return present(await tx.book.create({ data }))
}

/**
 * Stores all books or none.
 *
 * @returns the records in the order given, which is that of their ids
 */
export async function insertBooks(tx: Transaction, data: BookFields[]): Promise<BookRecord[]> {
  const rows = await tx.book.createManyAndReturn({ data })
  return rows.sort((a, b) => a.id - b.id).map(present)
}

/** @throws Problem 404 or 412 */
export async function updateBook(
  tx: Transaction,
  id: number,
  ifVersion: IfVersion,
  data: BookFields,
): Promise<BookRecord> {
  return present(await updateVersioned<Book>(tx.book, 'Book', id, ifVersion, data))
}

/** @throws Problem 404 or 412 */
export async function deleteBook(tx: Transaction, id: number, ifVersion: IfVersion): Promise<void> {
  await deleteVersioned(tx.book, 'Book', id, ifVersion)
}

function present({ id, title, author, published_date, version }: Book): BookRecord {
  return { id, title, author, published_date, version }
}
