import { mutation, query, resource } from '@resource/openapi/contract'
import { z } from 'zod'
import { messageField } from './errors.ts'
import {
  bulk,
  changesOf,
  conditional,
  id,
  idempotencyKey,
  location,
  many,
  message,
  must,
  recordId,
  text,
  textFilter,
  version,
  write,
  writeHeaders,
} from './fields.ts'
import { listInput, pageFacts, pageHeaders, pageOf } from './pages.ts'

const DEAREST = 1e12
const priceRule = must('a number from 0 to 1e12')
const name = text(1, 200).meta({ examples: ['Lamp'] })
const price = z
  .number(priceRule)
  .min(0, priceRule)
  .max(DEAREST, priceRule)
  .meta({ examples: [24.5] })
const category = text(1, 100).meta({ examples: ['lighting'] })

const item = z
  .object({ id, name: z.string(), price: z.number(), category: z.string().nullable() })
  .meta({ id: 'Item', examples: [{ id: 7, name: 'Lamp', price: 24.5, category: null }] })

/** A record as tRPC shows it: `version` is what `if_version` of a later write names. */
const versioned = item.extend({ version }).meta({ id: 'VersionedItem' })

// What creation answers with (specification 2.4): the record under one key, with or without the envelope around it.
const created = item
  .transform((item) => ({ item }))
  .pipe(z.object({ item }))
  .meta({ id: 'CreatedItem' })

const fields = { name, price, category: category.nullable().default(null) }

const params = { params: { item_id: 'id' } }
const single = { response: item, envelope: 'item', etag: 'version' }

export const items = resource({
  tag: 'Items',
  description: 'A collection of named, priced items, in categories or in none.',
  errorForm: messageField,
  lookup: 'get',
  procedures: {
    /** List items. Filtered by `category` and `price_lt`, in the order `sort` says. */
    list: query({
      input: listInput(
        {
          // As the stored ones are trimmed.
          category: textFilter
            .trim()
            .optional()
            .meta({ examples: ['lighting'] }),
          price_lt: z
            .number(must('a number'))
            .optional()
            .meta({ description: 'Only items whose price is below this: digits, with or without a decimal point.' }),
        },
        ['id', 'name', 'price', 'category'],
      ),
      output: z.object({ items: z.array(versioned), ...pageFacts }),
      meta: {
        openapi: {
          method: 'GET',
          path: '/items/',
          operationId: 'listItems',
          summary: 'List items',
          description: 'Filtered by `category` and `price_lt`, in the order `sort` says.',
          successDescription: 'A page of items.',
          responseBody: 'items',
          response: pageOf(item),
          envelope: 'items',
          headers: pageHeaders,
        },
      },
    }),

    /** Get an item. `ETag` names the version read; send it back as `If-Match` to write only what you have seen. */
    get: query({
      input: z.object({ id: recordId }),
      output: versioned,
      errors: [404],
      meta: {
        openapi: {
          ...params,
          ...single,
          method: 'GET',
          path: '/items/{item_id}',
          operationId: 'getItem',
          summary: 'Get an item',
          description: '`ETag` names the version read; send it back as `If-Match` to write only what you have seen.',
          successDescription: 'The item.',
        },
      },
    }),

    /** Create an item. A category left out is null. */
    create: mutation({
      input: z.object({ ...fields, idempotency_key: idempotencyKey }),
      output: versioned,
      errors: [409],
      meta: {
        openapi: {
          method: 'POST',
          path: '/items/',
          operationId: 'createItem',
          summary: 'Create an item',
          description: 'The answer holds the item under the key `item`.',
          successDescription: 'The created item.',
          status: 201,
          response: created,
          etag: 'version',
          headerParams: writeHeaders,
          headers: location('/items/{id}'),
        },
      },
    }),

    /**
     * Create many items. 1 to 1,000 items, all or none, answered in the order sent. An error names the index and the
     * field.
     */
    createMany: mutation({
      input: z.object({
        items: many(z.object(fields, must('an object')).meta({ id: 'NewItem' }), 'items'),
        idempotency_key: idempotencyKey,
      }),
      output: z.object({ items: z.array(versioned) }),
      errors: [409],
      meta: {
        openapi: {
          ...bulk('items'),
          method: 'POST',
          path: '/items/bulk',
          operationId: 'createItems',
          summary: 'Create many items',
          response: pageOf(item),
        },
      },
    }),

    /** Replace an item. A category left out returns to null. */
    replace: mutation({
      input: z.object({ id: recordId, ...fields, ...write }),
      output: versioned,
      errors: [404, 409],
      meta: {
        openapi: {
          ...params,
          ...single,
          ...conditional,
          method: 'PUT',
          path: '/items/{item_id}',
          operationId: 'replaceItem',
          summary: 'Replace an item',
          description: 'A category left out returns to null.',
          successDescription: 'The replaced item.',
        },
      },
    }),

    /** Update an item. Changes the fields that are sent. */
    update: mutation({
      input: changesOf({ name, price, category: category.nullable() }),
      output: versioned,
      errors: [404, 409],
      meta: {
        openapi: {
          ...params,
          ...single,
          ...conditional,
          method: 'PATCH',
          path: '/items/{item_id}',
          operationId: 'updateItem',
          summary: 'Update an item',
          description: 'Changes the fields that are sent.',
          successDescription: 'The updated item.',
        },
      },
    }),

    /** Delete an item. The id is never given to another item. */
    delete: mutation({
      input: z.object({ id: recordId, ...write }),
      output: message,
      errors: [404, 409],
      meta: {
        openapi: {
          ...params,
          ...conditional,
          method: 'DELETE',
          path: '/items/{item_id}',
          operationId: 'deleteItem',
          summary: 'Delete an item',
          description: 'The id is never given to another item.',
          successDescription: 'The item is gone.',
        },
      },
    }),
  },
})
