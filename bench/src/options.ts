import { parseArgs } from 'node:util'
import type { Engine } from './engines/engine.ts'
import type { Plan } from './measure.ts'
import { type Program, programs } from './programs.ts'
import { workloads } from './workloads.ts'

const ENGINES = ['sqlite', 'postgresql'] as const

export interface Options extends Pick<Plan, 'workloads' | 'rounds' | 'ms'> {
  engines: Engine['name'][]
  /** Programs and dataset sizes for an engine. */
  contestants: (engine: Engine['name']) => Plan['contestants']
  /** Whether to write RESULTS.md. */
  write: boolean
  /** Number of mixed requests of a memory test, which then replaces all other measurements. */
  soak: number | undefined
}

/** Dataset size for all programs. */
export const COMMON_ROWS = 100_000
/** Dataset sizes for the service and the limit. */
export const SCALING_ROWS = [1000, COMMON_ROWS, 1_000_000]
const SCALING_PROGRAMS = ['ours', 'limit']

// A shared machine may be half as fast for some seconds: many short, adjacent intervals give better ratios than few long ones.
const ROUNDS = 7
const MS = 280

/**
 * Parses the command line. Without arguments, everything is measured.
 *
 * @throws Error that names an invalid argument
 */
export function readOptions(args: string[]): Options {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string' },
      engine: { type: 'string' },
      rows: { type: 'string' },
      programs: { type: 'string' },
      rounds: { type: 'string' },
      ms: { type: 'string' },
      write: { type: 'boolean' },
      soak: { type: 'string' },
    },
  })
  const names = programs.map(({ name }) => name)
  const chosen = choose('programs', values.programs, names)
  const soak = values.soak === undefined ? undefined : positiveInteger('soak', values.soak)
  const allRows = soak === undefined ? SCALING_ROWS : [COMMON_ROWS]
  const rows = values.rows?.split(',').map((text) => positiveInteger('rows', text)) ?? allRows
  if (rows.some((count) => count % 1000 !== 0)) throw new Error('--rows: must be multiples of 1000')
  const isIncluded = ({ name, peer }: Program, count: number, engine: Engine['name']) =>
    chosen.includes(name) &&
    (values.rows !== undefined || count === COMMON_ROWS || SCALING_PROGRAMS.includes(name)) &&
    (values.programs !== undefined || engine === 'sqlite' || peer !== 'equipped')
  return {
    engines: choose('engine', values.engine, ENGINES),
    workloads: choose(
      'only',
      values.only,
      workloads.map(({ name }) => name),
    ),
    contestants: (engine) =>
      rows.flatMap((count) =>
        programs.filter((program) => isIncluded(program, count, engine)).map((program) => ({ program, rows: count })),
      ),
    rounds: positiveInteger('rounds', values.rounds ?? String(ROUNDS)),
    ms: positiveInteger('ms', values.ms ?? String(MS)),
    write: values.write ?? Object.keys(values).length === 0,
    soak,
  }
}

function choose<Name extends string>(option: string, text: string | undefined, known: readonly Name[]): Name[] {
  if (text === undefined) return [...known]
  const named = text.split(',')
  const unknown = named.find((name) => !known.some((one) => one === name))
  if (unknown !== undefined) throw new Error(`--${option}: unknown "${unknown}"; must be one of ${known.join(', ')}`)
  return known.filter((name) => named.includes(name))
}

function positiveInteger(option: string, text: string): number {
  if (!/^[1-9]\d*$/.test(text)) throw new Error(`--${option}: must be a positive integer`)
  return Number(text)
}
