import { createClient } from '@resource/client'
import { expect, test } from 'vitest'
import { postgresDatabase } from './database.ts'
import { spawnService, temporaryFolder } from './service-process.ts'

const GROUP = '0198a1c4-7d52-4b0e-9c3f-5a2f8e6b1d07'
const REQUESTS = 36
const ROWS = 20
/** The number of requests that are undone when the process is killed. */
const KILLS = [8, 12]

test('C48 the undo of a group continues after each kill of the process, undoes each request once, and is undone as one', async () => {
  await using folder = await temporaryFolder()
  const database = await postgresDatabase()
  const environment: Record<string, string> = database ? { DATABASE_URL: database.url } : {}
  const stateOf = async (url: string) => {
    const { items, total } = await createClient({ baseUrl: url }).items.list.query({ limit: 1_000, count: true })
    return [total, items.map(({ version: _, ...item }) => item)]
  }
  let done = 0
  let before: unknown
  let after: unknown
  {
    await using service = spawnService(folder.path, environment)
    const url = await service.url()
    const { items } = createClient({ baseUrl: url })
    const rows = Array.from({ length: ROWS }, (_, n) => ({ name: `Item ${n}`, price: 1 }))
    await items.createMany.mutate({ items: rows })
    before = await stateOf(url)
    for (let n = 0; n < REQUESTS; n++) {
      if (n % 3 === 0) await items.createMany.mutate({ items: rows }, { group: GROUP })
      else if (n % 3 === 1)
        await items.updateWhere.mutate({ id_gte: 1, changes: { add: { price: 1 } } }, { group: GROUP })
      else await items.deleteWhere.mutate({ id_in: [n - 1, n] }, { group: GROUP })
    }
    after = await stateOf(url)
  }
  for (const kill of KILLS) {
    await using service = spawnService(folder.path, environment)
    const client = createClient({ baseUrl: await service.url(), retryForMs: 0 })
    const onProgress = (requests: number) => {
      if (requests < kill) return
      done += kill
      service.signal('SIGKILL')
    }
    await expect(client.undo({ group: GROUP }, { onProgress })).rejects.toMatchObject({ code: 'unavailable' })
  }
  await using service = spawnService(folder.path, environment)
  const url = await service.url()
  const client = createClient({ baseUrl: url })
  const { total, group } = await client.reversals.open.query({ group: GROUP })
  // A reversal may be stored whose answer was lost.
  expect(total).toBeLessThanOrEqual(REQUESTS - done)
  expect(total).toBeGreaterThanOrEqual(REQUESTS - done - KILLS.length)
  expect(await client.undo({ group: GROUP })).toMatchObject({ group, requests: total })
  expect(await stateOf(url)).toEqual(before)
  const reversals = new Map<string | null, string | null>()
  for await (const { request_id, reverses } of client.audit.iterate({ group, limit: 1_000 }))
    reversals.set(request_id, reverses)
  expect([reversals.size, new Set(reversals.values()).size]).toEqual([REQUESTS, REQUESTS])
  expect(await client.undo({ group })).toMatchObject({ requests: REQUESTS })
  expect(await stateOf(url)).toEqual(after)
  database?.release()
})
