import type { Client, Output } from '@resource/client'
import { isServiceError } from '@resource/client'
import { expect, test } from 'vitest'
import { seededRandom, seedOfRun } from './fuzz/random.ts'
import { startTestServer } from './harness.ts'
import { type RandomWrite, randomWrite, type Snapshot, snapshot, write } from './random-writes.ts'
import { createKey } from './records.ts'

type Preview = Pick<Output<'previews', 'create'>, 'changes'>

const ROUNDS = 120

/** What differs between two states of the database, without times, generated values and the ids of new records. */
function differences(before: Snapshot, after: Snapshot) {
  const resourceOf = (name: string) => name.split(' ')[0] ?? ''
  const created: string[] = []
  const changed: Record<string, unknown> = {}
  for (const name of new Set([...before.keys(), ...after.keys()])) {
    const [old, now] = [before.get(name), after.get(name)]
    if (old === undefined && now !== undefined) created.push(JSON.stringify([resourceOf(name), chosen(now)]))
    else if (JSON.stringify(old) !== JSON.stringify(now)) changed[name] = [timeless(old), timeless(now)]
  }
  return { created: created.sort(), changed }
}

/** The same differences, as a preview shows them. */
function shown({ changes }: Preview, stored: Snapshot) {
  const created: string[] = []
  const changed: Record<string, [unknown, unknown]> = {}
  for (const { resource, id, before, after } of changes) {
    const name = `${resource} ${id}`
    const row = JSON.stringify([resource, chosen(after ?? {})])
    if (id === null) created.push(row)
    // A later row of the same call changes a record that an earlier one created.
    else if (!stored.has(name)) created[created.indexOf(JSON.stringify([resource, chosen(before ?? {})]))] = row
    else {
      // A later row of the same call may change a record again.
      changed[name] = [changed[name]?.[0] ?? timeless(before ?? undefined), timeless(after ?? undefined)]
    }
  }
  return { created: created.sort(), changed }
}

/** A new record without what the service assigns. */
function chosen({
  id,
  version,
  created_at,
  updated_at,
  prefix,
  revoked_at,
  last_used_at,
  rotated_at,
  former_until,
  ...row
}: Record<string, unknown>) {
  const { password, ...fields } = row
  return Object.fromEntries(Object.entries(fields).sort())
}

function timeless(row: Record<string, unknown> | undefined): unknown {
  const { updated_at, last_used_at, revoked_at, rotated_at, former_until, password, ...fields } = row ?? {}
  return row && { ...fields, ...('revoked_at' in row && { revoked: revoked_at !== null }) }
}

/** An error of a call. */
interface Failed {
  failed: { status: number; reason: string | undefined }
}

async function attempt<T>(work: () => Promise<T>): Promise<T | Failed> {
  try {
    return await work()
  } catch (error) {
    if (isServiceError(error) && error.status < 500) return { failed: { status: error.status, reason: error.reason } }
    throw error
  }
}

const hasFailed = (outcome: unknown): outcome is Failed =>
  typeof outcome === 'object' && outcome !== null && 'failed' in outcome

/** A preview and the write with its effect, or a proposal and its application. */
interface Way<Shown extends Preview> {
  accepts: (planned: RandomWrite) => boolean
  /** Whether a write that changes nothing is refused. */
  needsChange: boolean
  show: (client: Client, planned: RandomWrite) => Promise<Shown>
  carryOut: (client: Client, planned: RandomWrite, shown: Shown) => Promise<unknown>
}

const previewed: Way<Output<'previews', 'create'>> = {
  accepts: () => true,
  needsChange: false,
  show: ({ previews }, planned) => previews.create.mutate(planned),
  carryOut: (client, planned, { effect }) => write(client, planned, { ifEffect: effect }),
}

const proposed: Way<Output<'proposals', 'create'>> = {
  accepts: ({ operation, input }) => !operation.startsWith('keys.') && !JSON.stringify(input).includes('"password"'),
  needsChange: true,
  show: ({ proposals }, planned) => proposals.create.mutate({ ...planned, reason: 'Random' }),
  carryOut: ({ proposals }, _planned, { id }) => proposals.setStatus.mutate({ id, status: 'applied' }),
}

async function carryOutAtRandom<Shown extends Preview>({
  accepts,
  needsChange,
  show,
  carryOut,
}: Way<Shown>): Promise<void> {
  await using server = await startTestServer()
  const { key } = await createKey(server)
  server.logIn(key)
  const client: Client = server.client
  const random = seededRandom(seedOfRun())
  const outcomes = { done: 0, refused: 0, failed: 0 }
  for (let round = 0; round < ROUNDS; round++) {
    const unchanged = await snapshot(client)
    let planned = randomWrite(random, unchanged)
    while (!accepts(planned)) planned = randomWrite(random, unchanged)
    const preview = await attempt(() => show(client, planned))
    expect(await snapshot(client), JSON.stringify(planned)).toEqual(unchanged)
    if (hasFailed(preview)) {
      const outcome = await attempt(() => write(client, planned))
      if (needsChange && !hasFailed(outcome)) expect(await snapshot(client)).toEqual(unchanged)
      else expect(outcome).toEqual(preview)
      continue
    }
    const isDisturbed = random.oneIn(2)
    for (let writers = isDisturbed ? random.int(1, 4) : 0; writers > 0; writers--)
      await attempt(() => write(client, random.oneIn(3) ? planned : randomWrite(random, unchanged)))
    const before = await snapshot(client)
    const outcome = await attempt(() => carryOut(client, planned, preview))
    const after = await snapshot(client)
    if (!hasFailed(outcome)) {
      expect(differences(before, after), JSON.stringify(planned)).toEqual(shown(preview, before))
      outcomes.done++
    } else {
      expect(isDisturbed, JSON.stringify([planned, outcome])).toBe(true)
      expect(after).toEqual(before)
      outcomes[outcome.failed.reason === 'effect_changed' ? 'refused' : 'failed']++
    }
  }
  expect(outcomes.done).toBeGreaterThan(ROUNDS / 4)
  expect(outcomes.refused).toBeGreaterThan(ROUNDS / 20)
}

test('C44 a random write does exactly what its preview showed, or nothing if another write came between', () =>
  carryOutAtRandom(previewed))

test('C57 a random proposal does exactly what it showed, or nothing if another write came between', () =>
  carryOutAtRandom(proposed))
