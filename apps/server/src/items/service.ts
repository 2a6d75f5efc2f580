import type { Implementation } from '@resource/contract'
import type { Database } from '@resource/database'
import type { Context } from '../context.ts'
import { writeOnce } from '../store/idempotency.ts'
import { deleteItem, findItem, insertItem, insertItems, listItems, updateItem } from './store.ts'

/** The rules of items (specification 2.3 and 4.3). */
export function itemService(database: Database): Implementation<Context>['items'] {
  return {
    list: (input, { read }) => listItems(read, input),

    get: ({ id }, { read }) => findItem(read, id),

    create: (input, context) => {
      const { name, price, category } = input
      return writeOnce(database, context, 'items.create', input, (tx) => insertItem(tx, { name, price, category }))
    },

    createMany: (input, context) =>
      writeOnce(database, context, 'items.createMany', input, async (tx) => ({
        items: await insertItems(tx, input.items),
      })),

    replace: (input, context) => {
      const { id, if_version, name, price, category } = input
      return writeOnce(database, context, 'items.replace', input, (tx) =>
        updateItem(tx, id, if_version, { name, price, category }),
      )
    },

    update: (input, context) => {
      const { id, if_version, name, price, category } = input
      return writeOnce(database, context, 'items.update', input, (tx) =>
        updateItem(tx, id, if_version, { name, price, category }),
      )
    },

    delete: (input, context) =>
      writeOnce(database, context, 'items.delete', input, async (tx) => {
        await deleteItem(tx, input.id, input.if_version)
        return { message: 'Item deleted' }
      }),
  }
}
