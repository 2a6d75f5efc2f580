import { type Facts, facts, notes } from './facts.ts'
import type { Cell, Results, Run } from './measure.ts'
import { COMMON_ROWS, GROWING_ROWS } from './options.ts'
import { programs } from './programs.ts'
import { ratioOf, type Spread } from './statistics.ts'
import { table } from './table.ts'
import { aheadOfEveryPeer, GROWTH, IDLE_MB, LAST_PAGE, POSTGRESQL, START_MS, targets } from './targets.ts'
import { works } from './works.ts'

/** The results as Markdown: what must be seen first, then every figure. */
export function report(results: Results, run: Facts): string {
  const find = finder(results.cells)
  const datasets = new Map(results.cells.map(({ engine, rows }) => [`${engine} ${rows}`, { engine, rows }]))
  const sections = [
    ['# Results', facts(run)],
    ['## What must be seen', ...mustBeSeen(find, results)],
    ...[...datasets.values()].map(({ engine, rows }) => figures(find, engine, rows)),
    ['## Start and memory', startAndMemory(results.runs)],
    ['## Not run', absences(results)],
    ['## How it was measured', notes(results.cells, run)],
  ]
  return `${sections
    .filter((section) => section.slice(1).some((part) => part !== ''))
    .flatMap((section) => section.filter((part) => part !== ''))
    .join('\n\n')}\n`
}

type Find = (engine: string, rows: number, program: string, work: string) => Cell | undefined

function finder(cells: Cell[]): Find {
  const byKey = new Map(cells.map((cell) => [[cell.engine, cell.rows, cell.program, cell.work].join(), cell]))
  return (...key) => byKey.get(key.join())
}

function mustBeSeen(find: Find, { runs }: Results): string[] {
  const speed = targets.map(({ work, limit, plain }) => {
    const at = (program: string) => find('sqlite', COMMON_ROWS, program, work)
    return [
      titleOf(work),
      verdict(ratio(at('ours'), at('limit')), 'at most', limit),
      verdict(ratio(at('plain'), at('ours')), 'at least', plain),
      aheadOfEveryPeer('bare', (program) => ratio(at(program), at('ours'))),
      aheadOfEveryPeer('equipped', (program) => ratio(at(program), at('ours'))),
    ]
  })
  const most = GROWING_ROWS.at(-1) as number
  const growth = works
    .filter(({ name }) => targets.some(({ work }) => work === name))
    .flatMap(({ name }) =>
      ['sqlite', 'postgresql'].map((engine) => {
        const grown = (program: string) =>
          ratio(find(engine, most, program, name), find(engine, GROWING_ROWS[0] as number, program, name))
        return [`${titleOf(name)}, ${engine}`, verdict(grown('ours'), 'at most', GROWTH), times(grown('limit'))]
      }),
    )
  const pages = ['sqlite', 'postgresql'].flatMap((engine) =>
    GROWING_ROWS.map((rows) => [
      `${engine}, ${count(rows)} rows`,
      verdict(
        ratio(find(engine, rows, 'ours', 'last-page'), find(engine, rows, 'ours', 'first-page')),
        'at most',
        LAST_PAGE,
      ),
    ]),
  )
  const postgresql = ['get', 'list'].map((work) => {
    const on = (program: string) => find('postgresql', COMMON_ROWS, program, work)
    return [
      titleOf(work),
      verdict(ratio(on('ours'), on('limit')), 'at most', POSTGRESQL),
      aheadOfEveryPeer('bare', (program) => ratio(on(program), on('ours'))),
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
      `CPU of the server per call, SQLite, ${count(COMMON_ROWS)} rows:`,
      table(
        [
          'Work',
          'Against the limit',
          'Ahead of the plain card stack',
          'Ahead of every other peer',
          'Equipped peers, to compare',
        ],
        speed,
      ),
    ),
    named(
      'Growth, CPU at 1,000,000 rows against 1,000:',
      table(['Work', 'Resource Service', 'The limit, to compare'], growth),
    ),
    named('Last page by cursor against the first:', table(['Dataset', 'CPU'], pages)),
    named(
      `PostgreSQL, ${count(COMMON_ROWS)} rows:`,
      table(['Work', 'Against the limit', 'Ahead of every peer'], postgresql),
    ),
    named('The process:', table(['Engine', 'Resident when idle', 'Start to first answer'], process)),
  ]
}

function figures(find: Find, engine: string, rows: number): string[] {
  const columns = programs.map(({ name }) => name)
  const show = (text: (cell: Cell) => string) =>
    table(
      ['', ...columns],
      works.map(({ name, title }) => [
        title,
        ...columns.map((program) => {
          const cell = find(engine, rows, program, name)
          return cell === undefined ? NOTHING : text(cell)
        }),
      ]),
    )
  return [
    `## ${engine}, ${count(rows)} rows`,
    named(
      'CPU of the server, µs per call, median (least–most):',
      show(({ cpu }) => within(cpu)),
    ),
    named(
      'The same as multiples of the Resource Service, round by round:',
      show((cell) => times(ratio(cell, find(engine, rows, 'ours', cell.work)))),
    ),
    named(
      'Calls per second, median (`*`: the load generator was the one that could not do more):',
      show(({ perSecond, loadBusy }) => `${number(perSecond.median)}${loadBusy > 0.9 ? '*' : ''}`),
    ),
    named(
      'Time of a request, ms, p50 / p99:',
      show(({ p50, p99 }) => `${number(p50.median)} / ${number(p99.median)}`),
    ),
  ]
}

function startAndMemory(runs: Run[]): string {
  return table(
    ['Program', 'Engine', 'Rows', 'Start to first answer, ms', 'Resident when idle, MB', 'Resident after the work, MB'],
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

function absences({ absences }: Results): string {
  return absences
    .map(({ engine, rows, program, reason }) => {
      const where = rows === 0 ? engine : `${engine}, ${count(rows)} rows`
      return `- ${program} on ${where}: ${reason
        .trim()
        .replace(/\s*\n\s*/g, ' ')
        .slice(0, 300)}`
    })
    .join('\n')
}

const NOTHING = '–'

function verdict(value: number | undefined, word: 'at most' | 'at least' | 'under', bound: number, unit = 'x'): string {
  if (value === undefined) return NOTHING
  const isReached = word === 'at least' ? value >= bound : value <= bound
  const shown = unit === 'x' ? times(value) : `${number(value)}${unit}`
  return `${shown} (${word} ${count(bound)}${unit}) ${isReached ? 'yes' : '**no**'}`
}

function named(title: string, table: string): string {
  return table === '' ? '' : `${title}\n\n${table}`
}

function titleOf(name: string): string {
  return works.find((work) => work.name === name)?.title ?? name
}

// Of two that had their turns in the same rounds.
function ratio(above: Cell | undefined, below: Cell | undefined): number | undefined {
  return above === undefined || below === undefined ? undefined : ratioOf(above.cpuOfRounds, below.cpuOfRounds)
}

function times(value: number | undefined): string {
  return value === undefined ? NOTHING : `${value.toFixed(value < 10 ? 2 : 1)}x`
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
