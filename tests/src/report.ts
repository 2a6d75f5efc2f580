import { commit, machine } from '@resource/bench/machine'
import { table } from '@resource/bench/table'
import type { Figure, Row } from './row.ts'

export interface Outcome {
  row: Row
  figures: Figure[]
  seconds: number
  /** Why the row came to no end. */
  fault: string | undefined
}

/** The figures as Markdown, row by row. */
export function report(outcomes: Outcome[], started: Date): string {
  const minutes = ((Date.now() - started.getTime()) / 60_000).toFixed(1)
  const facts = [
    `${started.toISOString().slice(0, 16).replace('T', ' ')} UTC, ${minutes} minutes, commit ${commit()}`,
    machine(),
    `Node ${process.versions.node}`,
  ]
  const sections = outcomes.flatMap((outcome) => [`## ${outcome.row.title}`, outcome.row.how, tableOf(outcome)])
  return `${[HEAD, facts.map((line) => `- ${line}`).join('\n'), ...sections].join('\n\n')}\n`
}

const HEAD = `# Torture test results

Written by \`npm run test:torture\` ([how](../../tests/README.md)). Every row runs on real processes. [Tests](testing.md) lists the tests
that need no such run.`

export function tableOf({ row, figures, seconds, fault }: Outcome): string {
  const lines = figures.map(({ what, required, seen, isReached }) => [
    what,
    required,
    `${seen}${isReached ? '' : ' **missed**'}`,
  ])
  if (fault !== undefined) lines.push(['came to its end', 'yes', `**no**: ${fault.replace(/\s*\n\s*/g, ' ')}`])
  return table([`\`${row.name}\`, ${seconds.toFixed(0)} s`, 'Required', 'Seen'], lines)
}
