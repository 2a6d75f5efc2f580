import { audited, contract } from '@resource/contract'
import { createDatabase } from '@resource/database'
import { newRequestId } from '../src/http/request-id.ts'
import { createOperations } from '../src/operations.ts'
import { readConfig } from '../src/process/config.ts'
import type { CollectionRules } from '../src/store/collection.ts'

/**
 * Calls the operations of a service whose items have rules.
 *
 * @param readOnly the fields of items that are read-only
 */
export async function openCalls(
  databaseUrl: string,
  items: CollectionRules<'items'>,
  readOnly: readonly ('category' | 'price')[] = [],
) {
  const database = await createDatabase(databaseUrl)
  const operations = withReadOnly(readOnly, () =>
    createOperations(database, readConfig({}), { needsCredentials: () => false, rules: { items } }),
  )
  const call = async (name: string, input: object, requestId = newRequestId()) => {
    const context = { caller: { name: 'mira', role: 'admin' }, read: database.read, requestId } as const
    const operation = operations.find((operation) => operation.name === name)
    if (operation === undefined) throw new Error(`There is no ${name}`)
    return operation.call(input, context)
  }
  const errorOf = (name: string, input: object, requestId = newRequestId()) =>
    call(name, input, requestId).then(
      () => 'done',
      ({ status, message, cause }) => `${status} ${status === 500 ? cause.message : message}`,
    )
  return { call, errorOf, [Symbol.asyncDispose]: () => database.close() }
}

/** Creates something while fields of items are read-only. */
function withReadOnly<T>(names: readonly ('category' | 'price')[], create: () => T): T {
  const { items } = contract
  const { shape } = items.procedures.create.input
  const readOnly = Object.fromEntries(names.map((name) => [name, shape[name]]))
  const changed = { items: { ...items, collection: { ...items.collection, readOnly } } }
  try {
    Object.assign(contract, changed)
    Object.assign(audited, changed)
    return create()
  } finally {
    Object.assign(contract, { items })
    Object.assign(audited, { items })
  }
}
