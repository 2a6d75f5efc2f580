import type { CollectionRules } from '../store/collection.ts'
import { invalid } from '../store/refusals.ts'

/** The price of a line follows from its item, its owner from the order, and the total of an open order from its lines. */
export const lineRules: CollectionRules<'lines'> = {
  compute: async ({ after }, { tx }) => {
    const item = await tx.items.find({ id: after.item_id })
    const order = await tx.orders.find({ id: after.order_id })
    return { price: after.quantity * (item?.price ?? 0), owner: order?.owner ?? null }
  },
  check: async ({ before, after }, { tx }) => {
    const { order_id: id } = before ?? after
    if (after && after.order_id !== id) throw invalid('order_id', 'cannot change')
    // No other write changes the order until this one ends.
    await tx.orders.lock({ id }, 1)
    const order = await tx.orders.find({ id })
    if (order?.status !== 'open') throw invalid('order_id', 'must be an open order')
    const [prices] = await tx.lines.summarize({ where: { order_id: id }, of: 'price', limit: 1 })
    const total = (prices?.count ?? 0) * (prices?.mean ?? 0)
    await tx.orders.write([{ id, change: { total: Number(total.toFixed(2)) } }])
  },
  scope: ({ role, subject }) => (role === 'admin' ? undefined : { owner: subject }),
}
