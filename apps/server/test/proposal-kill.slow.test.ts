import { fileURLToPath } from 'node:url'
import { type Client, createClient } from '@resource/client'
import { createDatabase } from '@resource/database'
import { expect, test } from 'vitest'
import { postgresDatabase } from './database.ts'
import { spawnService, temporaryFolder } from './service-process.ts'

const KILL_DURING_WRITE = fileURLToPath(new URL('kill-during-write.mjs', import.meta.url))
const KILLS = 2
const STEP_MS = 30

test('C57 a kill between proposal, application and undo leaves no half effect', async () => {
  await using folder = await temporaryFolder()
  const released = await postgresDatabase()
  const databaseUrl = released?.url ?? `file:${folder.path}/kills.db`
  const count = 500
  const database = await createDatabase(databaseUrl)
  await using other = spawnService(folder.path, { DATABASE_URL: databaseUrl })
  const client = createClient({ baseUrl: await other.url() })
  /** The answer of a service that is killed `afterMs` after the call has arrived. */
  const killed = async <T>(work: (client: Client) => Promise<T>, afterMs: number): Promise<T | undefined> => {
    const environment = { NODE_OPTIONS: `--import ${KILL_DURING_WRITE}`, KILL_AFTER_MS: String(afterMs) }
    await using service = spawnService(folder.path, { DATABASE_URL: databaseUrl, ...environment })
    const dying = createClient({ baseUrl: await service.url(), retryForMs: 0 })
    const answer = await work(dying).catch(() => undefined)
    await service.exited
    return answer
  }
  const state = async (id = 0) => {
    const order = { column: 'id', descending: false } as const
    const items = await database.read.items.page({ columns: ['price'], where: {}, order, take: count })
    const { status, request_id } = (await database.read.proposals.find({ id })) ?? {}
    const { auditEntries } = database.read
    return {
      prices: [...new Set(items.map(({ price }) => price))],
      proposal: [status, request_id],
      applied: await auditEntries.count({ proposed_by: 'anonymous' }),
      undone: await auditEntries.count({ procedure: 'reversals.create' }),
    }
  }
  const items = Array.from({ length: count }, (_, index) => ({ name: `Item ${index}`, price: 1 }))
  await client.items.createMany.mutate({ items })
  const propose = {
    operation: 'items.updateWhere',
    input: { id_gte: 1, changes: { set: { price: 2 } } },
    reason: 'Dearer',
  }
  for (let round = 1; round <= KILLS; round++) {
    const proposal = await client.proposals.create.mutate(propose)
    const { id } = proposal
    const { applied, undone } = await state()
    const open = { prices: [1], proposal: ['open', null], applied, undone }
    expect(await state(id)).toEqual(open)
    const apply = ({ proposals }: Client) => proposals.setStatus.mutate({ id, status: 'applied' })
    const answer = await killed(apply, round * STEP_MS)
    const request = (await database.read.proposals.find({ id }))?.request_id ?? null
    const done = { prices: [2], proposal: ['applied', request], applied: applied + count, undone }
    expect(await state(id)).toEqual(answer !== undefined || request !== null ? done : open)
    const again = request ?? (await apply(client)).request_id ?? ''
    const undo = (by: Client) => by.undo(again)
    const undoing = await killed(undo, round * STEP_MS)
    const before = { ...done, proposal: ['applied', again] }
    const after = { ...before, prices: [1], undone: undone + count }
    const [price] = (await state()).prices
    expect(await state(id)).toEqual(undoing !== undefined || price === 1 ? after : before)
    if (price !== 1) await undo(client)
    expect(await state(id)).toEqual(after)
  }
  await database.close()
  released?.release()
})
