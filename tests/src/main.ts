// Everything in one run: `pnpm test:torture`, or the rows that are named: `pnpm test:torture kills disk-full`.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inspect, parseArgs } from 'node:util'
import { type Outcome, report, tableOf } from './report.ts'
import { rows } from './rows.ts'

const { values, positionals } = parseArgs({ allowPositionals: true, options: { write: { type: 'boolean' } } })
const stranger = positionals.find((name) => !rows.some((row) => row.name === name))
if (stranger !== undefined) {
  const names = rows.map(({ name }) => name).join(', ')
  process.stderr.write(`There is no row "${stranger}": it takes ${names}, and --write.\n`)
  process.exit(2)
}

const started = new Date()
const tell = (line: string) =>
  void process.stderr.write(`${((Date.now() - started.getTime()) / 1000).toFixed(0)} s  ${line}\n`)
// Every program ends with this one: they hold a channel to it.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

const outcomes: Outcome[] = []
for (const row of rows.filter(({ name }) => positionals.length === 0 || positionals.includes(name))) {
  tell(`${row.name}: ${row.title}`)
  const begin = performance.now()
  const outcome: Outcome = { row, figures: [], seconds: 0, fault: undefined }
  try {
    outcome.figures = await row.run((line) => tell(`  ${line}`))
  } catch (error) {
    outcome.fault = inspect(error)
  }
  outcome.seconds = (performance.now() - begin) / 1000
  outcomes.push(outcome)
  process.stdout.write(`\n${tableOf(outcome)}\n\n`)
}

const isWhole = positionals.length === 0
if (values.write ?? isWhole) {
  writeFileSync(join(import.meta.dirname, '../../docs/reference/torture.md'), report(outcomes, started))
}
const isReached = outcomes.every(({ figures, fault }) => !fault && figures.every((figure) => figure.isReached))
process.exitCode = isReached ? 0 : 1
