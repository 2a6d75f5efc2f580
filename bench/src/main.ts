// Runs all measurements, `pnpm bench`, or those selected by the options in options.ts.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Engine } from './engines/engine.ts'
import { openPostgresql } from './engines/postgresql.ts'
import { openSqlite } from './engines/sqlite.ts'
import { measure, type Results } from './measure.ts'
import { readOptions } from './options.ts'
import { report } from './report.ts'
import { soak } from './soak.ts'

const bench = join(import.meta.dirname, '..')
const options = readOptions(process.argv.slice(2))
const started = new Date()
const core = pin()
const folder = mkdtempSync(join(tmpdir(), 'bench-'))
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  // The programs exit with this process: see probe.ts.
  process.once(signal, () => {
    rmSync(folder, { recursive: true, force: true })
    process.exit(1)
  })
}
const log = (line: string) =>
  process.stderr.write(`${((Date.now() - started.getTime()) / 1000).toFixed(0)} s  ${line}\n`)
const open = { sqlite: openSqlite, postgresql: openPostgresql }
const all: Results = { cells: [], runs: [], skipped: [] }
const versions: Record<string, string> = {}

try {
  for (const name of options.engines) {
    try {
      await using engine = await open[name](folder)
      versions[name] = engine.version
      await run(engine)
    } catch (error) {
      const reason = (error as Error).message
      log(`${name} skipped: ${reason}`)
      all.skipped.push({ engine: name, rows: 0, program: 'all', reason })
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}

if (all.skipped.length > 0) process.exitCode = 1
if (options.soak === undefined) {
  const text = report(all, { started, versions, pinned: core !== undefined, ...options })
  process.stdout.write(text)
  if (options.write) writeFileSync(join(bench, 'RESULTS.md'), text)
}

async function run(engine: Engine) {
  const contestants = options.contestants(engine.name)
  for (const rows of new Set(contestants.map(({ rows }) => rows))) {
    log(`${engine.name}: ${rows} rows`)
    await engine.seed(rows)
  }
  if (options.soak !== undefined) {
    for (const { program, rows } of contestants) {
      process.stdout.write(await soak(engine, program, rows, options.soak, core))
    }
    return
  }
  const results = await measure(engine, { ...options, contestants, core, log })
  all.cells.push(...results.cells)
  all.runs.push(...results.runs)
  all.skipped.push(...results.skipped)
}

/** Pins this process and its children to all cores but the first. @returns the server's core, 0; undefined without taskset */
function pin(): number | undefined {
  const cores = availableParallelism()
  if (cores < 2) return undefined
  const { status } = spawnSync('taskset', ['-a', '-p', '-c', `1-${cores - 1}`, String(process.pid)])
  return status === 0 ? 0 : undefined
}
