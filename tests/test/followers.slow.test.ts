import { expect, test } from 'vitest'
import { postgresTestDatabase, sqliteTestDatabase } from '../src/engines.ts'
import { followKills } from '../src/scenarios/followers.ts'

test.each([
  ['SQLite', 1, sqliteTestDatabase],
  ['PostgreSQL', 3, postgresTestDatabase],
] as const)(
  'changes of random writes on %s with %i processes are followed in order, once, through kills',
  async (_, workers, open) => {
    await using database = await open()
    const { events, lost, repeated, unordered, faults, breaks } = await followKills(database, {
      events: 1_500,
      kills: 2,
      workers,
    })
    expect({ lost, repeated, unordered, faults }).toEqual({ lost: 0, repeated: 0, unordered: 0, faults: [] })
    expect(events).toBeGreaterThanOrEqual(1_500)
    expect(breaks).toBeGreaterThanOrEqual(2)
  },
)
