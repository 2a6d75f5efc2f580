import { postgresTestDatabase, sqliteTestDatabase, type TestDatabase } from '../engines.ts'
import { nextVersion } from '../next-version.ts'
import type { Measurement, Scenario } from '../scenario.ts'
import { MAIN } from '../service.ts'
import { restartOften } from './graceful-restarts.ts'

const ROUNDS = 5

export const rollingUpgrade: Scenario = {
  name: 'rolling-upgrade',
  run: async (log) => {
    const measurements: Measurement[] = []
    for (const open of [sqliteTestDatabase, postgresTestDatabase]) {
      await using database = await open()
      measurements.push(...(await upgradeAndBack(database, ROUNDS, log)))
    }
    return measurements
  },
}

/** Replaces two processes one by one by the next version, whose start migrates, and by this one again. */
export async function upgradeAndBack(
  database: TestDatabase,
  rounds: number,
  log: (line: string) => void,
): Promise<Measurement[]> {
  await using next = await nextVersion()
  const round = [next.main, next.main, MAIN, MAIN]
  return await restartOften(database, Array<string[]>(rounds).fill(round).flat(), log)
}
