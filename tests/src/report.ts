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
  const sections = outcomes.flatMap((outcome) => [
    `## ${outcome.scenario.title}`,
    outcome.scenario.description,
    tableOf({ ...outcome, measurements: merged(required(outcome.measurements)) }),
  ])
  return `${[HEAD, facts.map((line) => `- ${line}`).join('\n'), ...sections].join('\n\n')}\n`
}

const HEAD = `# Torture test results

Written by \`npm run test:torture\` ([how](README.md)). Every row runs on real processes. The run itself
prints further values. [Tests](../docs/reference/testing.md) lists the tests that need no such run.`

/** Without the values for information; all of them if nothing is required, as when a tool is missing. */
function required(measurements: Measurement[]): Measurement[] {
  const rows = measurements.filter((measurement) => measurement.required !== '')
  return rows.length > 0 ? rows : measurements
}

/** Merges the measurements of several setups, named `setup: name`, into one: `name`, measured `setup 1 ms, other 2 ms`. */
function merged(measurements: Measurement[]): Measurement[] {
  const groups = Map.groupBy(
    measurements,
    ({ name, required }) => `${NAME.exec(name)?.[2] ?? `: ${name}`}, ${required}`,
  )
  return [...groups.values()].map((group) => {
    const [first] = group as [Measurement]
    if (group.length === 1) return first
    const [, , name = ''] = NAME.exec(first.name) ?? []
    const isSame = group.every(({ measured }) => measured === first.measured)
    const each = group.map((one) => `${NAME.exec(one.name)?.[1]} ${one.measured}`)
    return {
      ...first,
      name,
      measured: isSame ? `${first.measured} each` : each.join(', '),
      passed: group.every(({ passed }) => passed),
    }
  })
}

const NAME = /^(.+?): (.+)$/

export function tableOf({ scenario, measurements, seconds, error }: Outcome): string {
  const lines = measurements.map(({ name, required, measured, passed }) => [
    name,
    required,
    `${measured}${passed ? '' : ' **failed**'}`,
  ])
  if (error !== undefined) lines.push(['completed', 'yes', `**no**: ${error.replace(/\s*\n\s*/g, ' ')}`])
  return table([`\`${scenario.name}\`, ${seconds.toFixed(0)} s`, 'Required', 'Measured'], lines)
}
