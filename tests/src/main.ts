// Runs all scenarios, `pnpm test:torture`, or only those named: `pnpm test:torture kills disk-full`.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inspect, parseArgs } from 'node:util'
import { markdownReport, type Outcome, tableOf } from './report.ts'
import { scenarios } from './scenarios.ts'

const { values, positionals } = parseArgs({ allowPositionals: true, options: { write: { type: 'boolean' } } })
const unknown = positionals.find((name) => !scenarios.some((scenario) => scenario.name === name))
if (unknown !== undefined) {
  const names = scenarios.map(({ name }) => name).join(', ')
  process.stderr.write(`Unknown scenario "${unknown}": must be one of ${names}.\n`)
  process.exit(2)
}

const started = new Date()
const log = (line: string) =>
  void process.stderr.write(`${((Date.now() - started.getTime()) / 1000).toFixed(0)} s  ${line}\n`)
// Child processes exit when their IPC channel to this process closes.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

const outcomes: Outcome[] = []
for (const scenario of scenarios.filter(({ name }) => positionals.length === 0 || positionals.includes(name))) {
  log(scenario.name)
  const begin = performance.now()
  const outcome: Outcome = { scenario, measurements: [], seconds: 0, error: undefined }
  try {
    outcome.measurements = await scenario.run((line) => log(`  ${line}`))
  } catch (error) {
    outcome.error = inspect(error)
  }
  outcome.seconds = (performance.now() - begin) / 1000
  outcomes.push(outcome)
  process.stdout.write(`\n${tableOf(outcome)}\n\n`)
}

const isFullRun = positionals.length === 0
if (values.write ?? isFullRun) {
  writeFileSync(join(import.meta.dirname, '../RESULTS.md'), markdownReport(outcomes, started))
}
const hasPassed = outcomes.every(({ measurements, error }) => !error && measurements.every(({ passed }) => passed))
// A failed scenario may have left a timer or a connection open, which must not keep the process running.
process.exit(hasPassed ? 0 : 1)
