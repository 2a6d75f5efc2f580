import { commit, machine } from '@resource/bench/machine'
import { table } from '@resource/bench/table'
import type { Measurement, Scenario } from './scenario.ts'

export interface Outcome {
  scenario: Scenario
  measurements: Measurement[]
  seconds: number
  /** The error that ended the scenario early. */
  error: string | undefined
}

/** The requirements and their measurements as Markdown, one section per scenario. */
export function markdownReport(outcomes: Outcome[], started: Date): string {
  const minutes = ((Date.now() - started.getTime()) / 60_000).toFixed(1)
  const facts = [
    `${started.toISOString().slice(0, 16).replace('T', ' ')} UTC, ${minutes} minutes, commit ${commit()}`,
    machine(),
    `Node ${process.versions.node}`,
  ]
  const sections = outcomes.map(sectionOf)
  return `${[HEAD, facts.map((line) => `- ${line}`).join('\n'), ...sections].join('\n\n')}\n`
}

const HEAD = `# Torture test results

\`npm run test:torture\` writes this page. Required values are in parentheses. Several setups have a value each, or a range.`

/** Without the values for information; all of them if nothing is required, as when a tool is missing. */
function required(measurements: Measurement[]): Measurement[] {
  const rows = measurements.filter((measurement) => measurement.required !== '')
  return rows.length > 0 ? rows : measurements
}

/** Merges the measurements of several setups, named `setup: name`, into one row. */
function merged(measurements: Measurement[]): Measurement[] {
  const groups = Map.groupBy(
    measurements,
    ({ name, required }) => `${NAME.exec(name)?.[2] ?? `: ${name}`}, ${required}`,
  )
  return [...groups.values()].map((group) => {
    const [first] = group as [Measurement]
    if (group.length === 1) return first
    const [, , name = ''] = NAME.exec(first.name) ?? []
    return { ...first, name, measured: summary(group), passed: group.every(({ passed }) => passed) }
  })
}

/** `0`, `SQLite 1 ms, PostgreSQL 2 ms` or, of more than two setups, `1 ms to 3 ms`. */
function summary(group: Measurement[]): string {
  const values = group.map(({ measured }) => measured)
  const [first = ''] = values
  if (values.every((value) => value === first)) return first
  if (group.length <= 2) return group.map(({ name, measured }) => `${NAME.exec(name)?.[1]} ${measured}`).join(', ')
  const sorted = values.toSorted((a, b) => numberIn(a) - numberIn(b))
  return `${sorted[0]} to ${sorted.at(-1)}`
}

function numberIn(measured: string): number {
  return Number.parseFloat(measured.replaceAll(',', ''))
}

function sectionOf({ scenario, measurements, seconds, error }: Outcome): string {
  const lines = joined(merged(required(measurements))).map(
    ({ name, required, measured, passed }) =>
      `- ${name}: ${measured}${required && ` (${required})`}${passed ? '' : ' **failed**'}`,
  )
  if (error !== undefined) lines.push(`- **not completed**: ${error.replace(/\s*\n\s*/g, ' ')}`)
  return `## ${scenario.name}, ${seconds.toFixed(0)} s\n\n${lines.join('\n')}`
}

/** Joins the measurements with the same values. */
function joined(measurements: Measurement[]): Measurement[] {
  const groups = Map.groupBy(measurements, ({ required, measured, passed }) => `${required}, ${measured}, ${passed}`)
  return [...groups.values()].map((group) => ({
    ...(group[0] as Measurement),
    name: group.map(({ name }) => name).join('; '),
  }))
}

const NAME = /^(.+?): (.+)$/

export function tableOf({ scenario, measurements, seconds, error }: Outcome): string {
  const lines = measurements.map(({ name, required, measured, passed }) => [
    name,
    required,
    `${measured}${passed ? '' : ' **failed**'}`,
  ])
  if (error !== undefined) lines.push(['completed', 'yes', `**no**: ${error.replace(/\s*\n\s*/g, ' ')}`])
  return table([`${scenario.name}, ${seconds.toFixed(0)} s`, 'Required', 'Measured'], lines)
}
