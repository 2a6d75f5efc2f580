import { parseArgs } from 'node:util'
import type { Engine } from './engines/engine.ts'
import type { Plan } from './measure.ts'
import { type Program, programs } from './programs.ts'
import { works } from './works.ts'

const ENGINES = ['sqlite', 'postgresql'] as const

export interface Options extends Pick<Plan, 'works' | 'rounds' | 'ms'> {
  engines: Engine['name'][]
  /** Who takes part on an engine. */
  contestants: (engine: Engine['name']) => Plan['contestants']
  /** Whether RESULTS.md is written. */
  write: boolean
  /** Requests of mixed work whose memory is watched, instead of all else. */
  soak: number | undefined
}

/** All programs meet here. */
export const COMMON_ROWS = 100_000
/** What the service and the limit are measured at. */
export const GROWING_ROWS = [1000, COMMON_ROWS, 1_000_000]
const GROWING = ['ours', 'limit']

// A machine that is shared may take twice as long for some seconds: more turns, side by side, tell more than longer ones.
const ROUNDS = 7
const MS = 280

/**
 * What to measure: everything, or the part that the arguments name.
 *
 * @throws Error that names an argument nobody knows
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
  const soak = values.soak === undefined ? undefined : whole('soak', values.soak)
  const allRows = soak === undefined ? GROWING_ROWS : [COMMON_ROWS]
  const rows = values.rows?.split(',').map((text) => whole('rows', text)) ?? allRows
  if (rows.some((count) => count % 1000 !== 0)) throw new Error('--rows takes thousands')
  const takesPart = ({ name, peer }: Program, count: number, engine: Engine['name']) =>
    chosen.includes(name) &&
    (values.rows !== undefined || count === COMMON_ROWS || GROWING.includes(name)) &&
    (values.programs !== undefined || engine === 'sqlite' || peer !== 'equipped')
  return {
    engines: choose('engine', values.engine, ENGINES),
    works: choose(
      'only',
      values.only,
      works.map(({ name }) => name),
    ),
    contestants: (engine) =>
      rows.flatMap((count) =>
        programs.filter((program) => takesPart(program, count, engine)).map((program) => ({ program, rows: count })),
      ),
    rounds: whole('rounds', values.rounds ?? String(ROUNDS)),
    ms: whole('ms', values.ms ?? String(MS)),
    write: values.write ?? Object.keys(values).length === 0,
    soak,
  }
}

function choose<Name extends string>(option: string, text: string | undefined, known: readonly Name[]): Name[] {
  if (text === undefined) return [...known]
  const named = text.split(',')
  const stranger = named.find((name) => !known.some((one) => one === name))
  if (stranger !== undefined) throw new Error(`--${option} does not know "${stranger}": it takes ${known.join(', ')}`)
  return known.filter((name) => named.includes(name))
}

function whole(option: string, text: string): number {
  if (!/^[1-9]\d*$/.test(text)) throw new Error(`--${option} takes whole numbers`)
  return Number(text)
}
