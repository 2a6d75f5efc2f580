import { createClient, isServiceError } from '../../packages/client/src/index.ts'

/**
 * The client calls to test in each runtime: writes, reads, iteration over a list and over changes, abort and timeout.
 *
 * @param baseUrl of an empty service
 */
export async function exercise(baseUrl: string) {
  const client = createClient({ baseUrl })
  const codeOf = (call: Promise<unknown>) =>
    call.then(
      () => 'succeeded',
      (error: unknown) => (isServiceError(error) ? error.code : String(error)),
    )
  const lamp = await client.items.create.mutate({ name: 'Lamp', price: 24.5 })
  const [read, rug] = await Promise.all([
    client.items.get.query({ id: lamp.id }),
    client.items.create.mutate({ name: 'Rug', price: 3 }),
  ])
  const names: string[] = []
  for await (const { name } of client.items.iterate({ limit: 1 })) names.push(name)
  const changes: string[] = []
  for await (const { type } of client.changes({ after: '0-0' })) if (changes.push(type) === 2) break
  const abort = new AbortController()
  // Answered only once something else has changed.
  const aborted = codeOf(client.changes.list.query({ wait: 25 }, { signal: abort.signal }))
  setTimeout(() => abort.abort(), 10)
  return {
    read,
    ids: [lamp.id, rug.id],
    names,
    changes,
    aborted: await aborted,
    late: await codeOf(client.changes.list.query({ wait: 25 }, { timeoutMs: 10 })),
    missing: await codeOf(client.items.get.query({ id: 9 })),
    refused: await codeOf(client.items.create.mutate({ name: '', price: 1 })),
  }
}
