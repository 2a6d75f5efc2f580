import { query } from '@resource/postgres-test'
import { expect, test } from 'vitest'
import { postgresTestDatabase } from '../src/engines.ts'
import { upgradeAndBack } from '../src/scenarios/rolling-upgrade.ts'

test('no request fails while two processes are replaced by the next version, whose start migrates, and by this one again', async () => {
  await using database = await postgresTestDatabase()
  const lines: string[] = []
  const measurements = await upgradeAndBack(database, 1, (line) => lines.push(line))
  expect(lines).toEqual([])
  expect(measurements.filter(({ passed }) => !passed)).toEqual([])
  const { rows } = await query(
    database.url,
    `SELECT migration_name, indisvalid FROM _prisma_migrations, pg_index
     WHERE migration_name > '9' AND indexrelid = 'items_color_id_idx'::regclass ORDER BY 1`,
  )
  expect(rows).toEqual([
    { migration_name: '9001_compatible_color', indisvalid: true },
    { migration_name: '9002_compatible_items_color_id_idx', indisvalid: true },
  ])
})
