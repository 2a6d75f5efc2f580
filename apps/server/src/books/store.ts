import type { Input, Output } from '@resource/contract'
import type { Book, Tables } from '@resource/database'
import { readPage } from '../store/page.ts'
import { deleteVersioned, type IfVersion, notFound, updateVersioned } from '../store/versioned.ts'

export type BookRecord = Output<'books', 'get'>
export type BookFields = Pick<BookRecord, 'title' | 'author' | 'published_date'>

const sortable = { id: 'id', title: 'title', author: 'author', published_date: 'published_date' } as const

export async function listBooks(db: Tables, page: Input<'books', 'list'>) {
  const { rows, facts } = await readPage(db.books, {}, sortable, page)
  return { books: rows.map(present), ...facts }
}

/** @throws Problem 404 */
export async function findBook(db: Tables, id: number): Promise<BookRecord> {
  const row = await db.books.find({ id })
  if (row === undefined) throw notFound('Book')
  return present(row)
}

export async function insertBook(tx: Tables, data: BookFields): Promise<BookRecord> {
  return present(await tx.books.insert(data))
}

/**
 * Stores all books or none.
 *
 * @returns the records in the order given, which is that of their ids
 */
export async function insertBooks(tx: Tables, data: BookFields[]): Promise<BookRecord[]> {
  return (await tx.books.insertMany(data)).map(present)
}

/** @throws Problem 404 or 412 */
export async function updateBook(tx: Tables, id: number, ifVersion: IfVersion, data: BookFields): Promise<BookRecord> {
  return present(await updateVersioned(tx.books, 'Book', id, ifVersion, data))
}

/** @throws Problem 404 or 412 */
export async function deleteBook(tx: Tables, id: number, ifVersion: IfVersion): Promise<void> {
  await deleteVersioned(tx.books, 'Book', id, ifVersion)
}

function present({ id, title, author, published_date, version }: Book): BookRecord {
  return { id, title, author, published_date, version }
}
