import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { checkAnswers, worksOf } from '../src/check.ts'
import type { Engine } from '../src/engines/engine.ts'
import { openSqlite } from '../src/engines/sqlite.ts'
import { programs } from '../src/programs.ts'
import { startServer } from '../src/server.ts'
import { findLastCursor, type Target, works } from '../src/works.ts'

const ROWS = 1000

let folder: string
let engine: Engine

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bench-test-'))
  engine = await openSqlite(folder)
  await engine.seed(ROWS)
})

afterAll(() => rm(folder, { recursive: true }))

test.concurrent.for(programs)(
  '$name gives the answers that all programs give, and refuses what all refuse',
  { timeout: 120_000 },
  async (program) => {
    await using copy = await engine.copy(ROWS, program.name)
    await using server = await startServer(program, copy.url)
    const lastCursor = program.name === 'ours' ? await findLastCursor(server.url, ROWS) : ''
    const target: Target = { program, rows: ROWS, lastCursor }
    const chosen = worksOf(
      target,
      works.map(({ name }) => name),
    )

    expect(await checkAnswers(server.url, target, chosen)).toBe(chosen.length * 5)
  },
)
