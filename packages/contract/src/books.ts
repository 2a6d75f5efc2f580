import { mutation, query, resource } from '@resource/openapi/contract'
import { z } from 'zod'
import { messageField } from './errors.ts'
import {
  bulk,
  conditional,
  id,
  idempotencyKey,
  location,
  many,
  message,
  must,
  recordId,
  text,
  version,
  write,
  writeHeaders,
} from './fields.ts'
import { listInput, pageFacts, pageHeaders, pageOf } from './pages.ts'

const fields = {
  title: text(1, 200).meta({ examples: ['The Left Hand of Darkness'] }),
  author: text(1, 200).meta({ examples: ['Ursula K. Le Guin'] }),
  published_date: z.iso
    .date(must('a calendar date, YYYY-MM-DD'))
    .meta({ maxLength: 10, description: 'A calendar date, `YYYY-MM-DD`.', examples: ['1969-03-01'] }),
}

const book = z.object({ id, title: z.string(), author: z.string(), published_date: z.iso.date() }).meta({ id: 'Book' })

/** A record as tRPC shows it: `version` is what `if_version` of a later write names. */
const versioned = book.extend({ version }).meta({ id: 'VersionedBook' })

const single = { response: book, envelope: 'book', etag: 'version' }

export const books = resource({
  tag: 'Books',
  description: 'A collection of titled, authored and dated books.',
  errorForm: messageField,
  lookup: 'get',
  procedures: {
    /** List books. In the order `sort` says. */
    list: query({
      input: listInput({}, ['id', 'title', 'author', 'published_date']),
      output: z.object({ books: z.array(versioned), ...pageFacts }),
      meta: {
        openapi: {
          method: 'GET',
          path: '/books',
          operationId: 'listBooks',
          summary: 'List books',
          description: 'In the order `sort` says.',
          successDescription: 'A page of books.',
          responseBody: 'books',
          response: pageOf(book),
          envelope: 'books',
          headers: pageHeaders,
        },
      },
    }),

    /** Get a book. `ETag` names the version read; send it back as `If-Match` to write only what you have seen. */
    get: query({
      input: z.object({ id: recordId }),
      output: versioned,
      errors: [404],
      meta: {
        openapi: {
          ...single,
          method: 'GET',
          path: '/books/{id}',
          operationId: 'getBook',
          summary: 'Get a book',
          description: '`ETag` names the version read; send it back as `If-Match` to write only what you have seen.',
          successDescription: 'The book.',
        },
      },
    }),

    /** Create a book. All three fields are required. */
    create: mutation({
      input: z.object({ ...fields, idempotency_key: idempotencyKey }),
      output: versioned,
      errors: [409],
      meta: {
        openapi: {
          ...single,
          method: 'POST',
          path: '/books',
          operationId: 'createBook',
          summary: 'Create a book',
          description: 'All three fields are required.',
          successDescription: 'The created book.',
          status: 201,
          headerParams: writeHeaders,
          headers: location('/books/{id}'),
        },
      },
    }),

    /**
     * Create many books. 1 to 1,000 books, all or none, answered in the order sent. An error names the index and the
     * field.
     */
    createMany: mutation({
      input: z.object({
        books: many(z.object(fields, must('an object')).meta({ id: 'NewBook' }), 'books'),
        idempotency_key: idempotencyKey,
      }),
      output: z.object({ books: z.array(versioned) }),
      errors: [409],
      meta: {
        openapi: {
          ...bulk('books'),
          method: 'POST',
          path: '/books/bulk',
          operationId: 'createBooks',
          summary: 'Create many books',
          response: pageOf(book),
        },
      },
    }),

    /** Replace a book. All three fields are required. */
    replace: mutation({
      input: z.object({ id: recordId, ...fields, ...write }),
      output: versioned,
      errors: [404, 409],
      meta: {
        openapi: {
          ...single,
          ...conditional,
          method: 'PUT',
          path: '/books/{id}',
          operationId: 'replaceBook',
          summary: 'Replace a book',
          description: 'All three fields are required.',
          successDescription: 'The replaced book.',
        },
      },
    }),

    /** Delete a book. The id is never given to another book. */
    delete: mutation({
      input: z.object({ id: recordId, ...write }),
      output: message,
      errors: [404, 409],
      meta: {
        openapi: {
          ...conditional,
          method: 'DELETE',
          path: '/books/{id}',
          operationId: 'deleteBook',
          summary: 'Delete a book',
          description: 'The id is never given to another book.',
          successDescription: 'The book is gone.',
          status: 204,
        },
      },
    }),
  },
})
