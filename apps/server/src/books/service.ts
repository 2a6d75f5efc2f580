import type { Implementation } from '@resource/contract'
import type { Database } from '@resource/database'
import type { Context } from '../context.ts'
import { writeOnce } from '../store/idempotency.ts'
import { deleteBook, findBook, insertBook, insertBooks, listBooks, updateBook } from './store.ts'

/** The rules of books (specification 2.2 and 4.2). */
export function bookService(database: Database): Implementation<Context>['books'] {
  return {
    list: (input, { read }) => listBooks(read, input),

    get: ({ id }, { read }) => findBook(read, id),

    create: (input, context) => {
      const { title, author, published_date } = input
      return writeOnce(database, context, 'books.create', input, (tx) =>
        insertBook(tx, { title, author, published_date }),
      )
    },

    createMany: (input, context) =>
      writeOnce(database, context, 'books.createMany', input, async (tx) => ({
        books: await insertBooks(tx, input.books),
      })),

    replace: (input, context) => {
      const { id, if_version, title, author, published_date } = input
      return writeOnce(database, context, 'books.replace', input, (tx) =>
        updateBook(tx, id, if_version, { title, author, published_date }),
      )
    },

    delete: (input, context) =>
      writeOnce(database, context, 'books.delete', input, async (tx) => {
        await deleteBook(tx, input.id, input.if_version)
        return { message: 'Book deleted' }
      }),
  }
}
