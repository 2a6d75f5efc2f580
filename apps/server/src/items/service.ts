import type { Implementation } from '@resource/contract'
import type { Database, Tables } from '@resource/database'
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
      const work = (tx: Tables) => insertItem(tx, { name, price, category })
      return writeOnce(database, context, 'items.create', input, work, { isSingle: true })
    },

    createMany: (input, context) =>
      writeOnce(database, context, 'items.createMany', input, async (tx) => ({
        items: await insertItems(tx, input.items),
      })),

    replace: (input, context) => {
      const { id, if_version, name, price, category } = input
      const work = (tx: Tables) => updateItem(tx, id, if_version, { name, price, category })
      return writeOnce(database, context, 'items.replace', input, work, { isSingle: true })
    },

    update: (input, context) => {
      const { id, if_version, name, price, category } = input
      const work = (tx: Tables) => updateItem(tx, id, if_version, { name, price, category })
      return writeOnce(database, context, 'items.update', input, work, { isSingle: true })
    },

    delete: (input, context) => {
      const work = async (tx: Tables) => {
        await deleteItem(tx, input.id, input.if_version)
        return { message: 'Item deleted' }
      }
      return writeOnce(database, context, 'items.delete', input, work, { isSingle: true })
    },
  }
}
