import { type Facts, facts, notes } from './facts.ts'
import type { Cell, Results, Run } from './measure.ts'
import { COMMON_ROWS, SCALING_ROWS } from './options.ts'
import { programs } from './programs.ts'
import { ratioOf, type Spread } from './statistics.ts'
import { table } from './table.ts'
import { fastestPeer, GROWTH, IDLE_MB, LAST_PAGE, POSTGRESQL, START_MS, targets } from './targets.ts'
import { workloads } from './workloads.ts'

/** The results as Markdown: first the targets, then all measurements. */
export function report(results: Results, run: Facts): string {
  const find = finder(results.cells)
  const datasets = new Map(results.cells.map(({ engine, rows }) => [`${engine} ${rows}`, { engine, rows }]))
  const sections = [
    ['# Results', facts(run)],
    ['## Targets', ...targetSections(find, results)],
    ...[...datasets.values()].map(({ engine, rows }) => figures(find, engine, rows)),
    ['## Startup and memory', startAndMemory(results.runs)],
    ['## Not run', skipped(results)],
    ['## Method', notes(results.cells, run)],
  ]
  return `${sections
    .filter((section) => section.slice(1).some((part) => part !== ''))
    .flatMap((section) => section.filter((part) => part !== ''))
    .join('\n\n')}\n`
}

type Find = (engine: string, rows: number, program: string, workload: string) => Cell | undefined

function finder(cells: Cell[]): Find {
  const byKey = new Map(cells.map((cell) => [[cell.engine, cell.rows, cell.program, cell.workload].join(), cell]))
  return (...key) => byKey.get(key.join())
}

function targetSections(find: Find, { runs }: Results): string[] {
  const speed = targets.map(({ workload, limit, plain }) => {
    const at = (program: string) => find('sqlite', COMMON_ROWS, program, workload)
    return [
      titleOf(workload),
      verdict(ratio(at('ours'), at('limit')), 'at most', limit),
      verdict(ratio(at('plain'), at('ours')), 'at least', plain),
      fastestPeer('bare', (program) => ratio(at(program), at('ours'))),
      fastestPeer('equipped', (program) => ratio(at(program), at('ours'))),
    ]
  })
  const most = SCALING_ROWS.at(-1) as number
  const growth = workloads
    .filter(({ name }) => targets.some(({ workload }) => workload === name))
    .flatMap(({ name }) =>
      ['sqlite', 'postgresql'].map((engine) => {
        const grown = (program: string) =>
          ratio(find(engine, most, program, name), find(engine, SCALING_ROWS[0] as number, program, name))
        return [`${titleOf(name)}, ${engine}`, verdict(grown('ours'), 'at most', GROWTH), times(grown('limit'))]
      }),
    )
  const pages = ['sqlite', 'postgresql'].flatMap((engine) =>
    SCALING_ROWS.map((rows) => [
      `${engine}, ${count(rows)} rows`,
      verdict(
        ratio(find(engine, rows, 'ours', 'last-page'), find(engine, rows, 'ours', 'first-page')),
        'at most',
        LAST_PAGE,
      ),
    ]),
  )
  const postgresql = ['get', 'list'].map((workload) => {
    const on = (program: string) => find('postgresql', COMMON_ROWS, program, workload)
    return [
      titleOf(workload),
      verdict(ratio(on('ours'), on('limit')), 'at most', POSTGRESQL),
      fastestPeer('bare', (program) => ratio(on(program), on('ours'))),
    ]
  })
  const process = runs
    .filter(({ program, rows }) => program === 'ours' && rows === COMMON_ROWS)
    .map(({ engine, idleMemory, startMs }) => [
      engine,
      verdict(idleMemory / 1e6, 'under', IDLE_MB, ' MB'),
      verdict(startMs.median, 'under', START_MS, ' ms'),
    ])
  return [
    named(
      `Server CPU per call, SQLite, ${count(COMMON_ROWS)} rows:`,
      table(
        [
          'Workload',
          'Relative to the limit',
          '`plain` relative to the service',
          'Fastest peer relative to the service',
          'Fastest equipped peer, for comparison',
        ],
        speed,
      ),
    ),
    named(
      'CPU at 1,000,000 rows relative to 1,000 rows:',
      table(['Workload', 'Resource Service', 'The limit, for comparison'], growth),
    ),
    named('Last page by cursor relative to the first:', table(['Dataset', 'CPU'], pages)),
    named(
      `PostgreSQL, ${count(COMMON_ROWS)} rows:`,
      table(['Workload', 'Relative to the limit', 'Fastest peer relative to the service'], postgresql),
    ),
    named('Process:', table(['Engine', 'Idle resident memory', 'Start to first response'], process)),
  ]
}

function figures(find: Find, engine: string, rows: number): string[] {
  const columns = programs.map(({ name }) => name)
  const show = (text: (cell: Cell) => string) =>
    table(
      ['', ...columns],
      workloads.map(({ name, title }) => [
        title,
        ...columns.map((program) => {
          const cell = find(engine, rows, program, name)
          return cell === undefined ? NO_VALUE : text(cell)
        }),
      ]),
    )
  return [
    `## ${engine}, ${count(rows)} rows`,
    named(
      'Server CPU, µs per call, median (min–max):',
      show(({ cpu }) => within(cpu)),
    ),
    named(
      'Server CPU relative to the Resource Service, median of the ratios by round:',
      show((cell) => times(ratio(cell, find(engine, rows, 'ours', cell.workload)))),
    ),
    named(
      'Calls per second, median (`*`: limited by the load generator):',
      show(({ perSecond, loadBusy }) => `${number(perSecond.median)}${loadBusy > 0.9 ? '*' : ''}`),
    ),
    named(
      'Latency, ms, p50 / p99:',
      show(({ p50, p99 }) => `${number(p50.median)} / ${number(p99.median)}`),
    ),
  ]
}

function startAndMemory(runs: Run[]): string {
  return table(
    [
      'Program',
      'Engine',
      'Rows',
      'Start to first response, ms',
      'Idle resident memory, MB',
      'Resident memory after all workloads, MB',
    ],
    runs.map(({ program, engine, rows, startMs, idleMemory, busyMemory }) => [
      program,
      engine,
      count(rows),
      within(startMs),
      number(idleMemory / 1e6),
      number(busyMemory / 1e6),
    ]),
  )
}

function skipped({ skipped }: Results): string {
  return skipped
    .map(({ engine, rows, program, reason }) => {
      const where = rows === 0 ? engine : `${engine}, ${count(rows)} rows`
      return `- ${program} on ${where}: ${reason
        .trim()
        .replace(/\s*\n\s*/g, ' ')
        .slice(0, 300)}`
    })
    .join('\n')
}

const NO_VALUE = '–'

function verdict(value: number | undefined, word: 'at most' | 'at least' | 'under', bound: number, unit = 'x'): string {
  if (value === undefined) return NO_VALUE
  const isMet = word === 'at least' ? value >= bound : value <= bound
  const shown = unit === 'x' ? times(value) : `${number(value)}${unit}`
  return `${shown} (${word} ${count(bound)}${unit}) ${isMet ? 'yes' : '**no**'}`
}

function named(title: string, table: string): string {
  return table === '' ? '' : `${title}\n\n${table}`
}

function titleOf(name: string): string {
  return workloads.find((workload) => workload.name === name)?.title ?? name
}

// Compares CPU by round: the intervals of one round are adjacent in time.
function ratio(above: Cell | undefined, below: Cell | undefined): number | undefined {
  return above === undefined || below === undefined ? undefined : ratioOf(above.cpuOfRounds, below.cpuOfRounds)
}

function times(value: number | undefined): string {
  return value === undefined ? NO_VALUE : `${value.toFixed(value < 10 ? 2 : 1)}x`
}

function within({ median, min, max }: Spread): string {
  return `${number(median)} (${number(min)}–${number(max)})`
}

function number(value: number): string {
  return value < 100 ? value.toPrecision(2 + Number(value >= 10)) : count(Math.round(value))
}

function count(value: number): string {
  return value.toLocaleString('en')
}
