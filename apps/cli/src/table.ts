import { createRequire } from 'node:module'
import { printable } from './printable.ts'

const GAP = 2
const ELLIPSIS = '…'
/** Text is not shortened below this width. */
const MIN_WIDTH = 5

const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/
const DATE_LENGTH = 10

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

type Row = Record<string, unknown>

/** The layout of a table, fixed by its first rows, so that later pages align with them. */
export interface Layout {
  columns: string[]
  widths: number[]
  isRight: boolean[]
  /** Columns of times that show the date only. */
  isDate: boolean[]
  /** Whether columns are missing, because not even shortened ones fit. */
  isCut: boolean
}

/**
 * Fits columns to their cells. If a line is wider than the terminal, times show the date only, then the widest text columns are
 * shortened, and then the last columns are omitted.
 *
 * @param terminalWidth columns of the terminal; undefined for a file or a pipe, which get complete text
 */
export function layoutOf(columns: string[], records: Row[], terminalWidth: number | undefined): Layout {
  const isRight = columns.map((column) => records.some((record) => typeof record[column] === 'number'))
  const widths = columns.map((column) =>
    records.reduce((width, record) => Math.max(width, columnsOf(cell(record[column]))), columnsOf(column)),
  )
  let isDate = columns.map(() => false)
  if (terminalWidth === undefined) return { columns, widths, isRight, isDate, isCut: false }
  if (lineWidth(widths, false) > terminalWidth) {
    isDate = columns.map((column) => records.some((record) => TIME.test(String(record[column]))))
    for (const [n, column] of columns.entries()) if (isDate[n]) widths[n] = Math.max(DATE_LENGTH, columnsOf(column))
  }
  const isWhole = columns.map((_, n) => isRight[n] === true || isDate[n] === true)
  shrink(widths, isWhole, terminalWidth)
  let count = columns.length
  while (count > 1 && lineWidth(widths.slice(0, count), count < columns.length) > terminalWidth) count--
  return {
    columns: columns.slice(0, count),
    widths: widths.slice(0, count),
    isRight,
    isDate,
    isCut: count < columns.length,
  }
}

/** The header line. */
export function header(layout: Layout): string {
  return line(layout.columns, layout)
}

/** One line per record. */
export function lines(layout: Layout, records: Row[]): string {
  return records
    .map((record) =>
      line(
        layout.columns.map((column, n) => {
          const text = cell(record[column])
          return layout.isDate[n] && TIME.test(text) ? text.slice(0, DATE_LENGTH) : text
        }),
        layout,
      ),
    )
    .join('')
}

const require = createRequire(import.meta.url)

/** The columns of the terminal that a text takes. Most texts are ASCII, and string-width takes 40 ms to load. */
function columnsOf(text: string): number {
  if (/^[ -~]*$/.test(text)) return text.length
  return (require('string-width') as typeof import('string-width')).default(text)
}

/** A table with aligned columns; numbers are right-aligned. */
export function table(columns: string[], records: Row[], terminalWidth = widthOf(process.stdout)): string {
  const layout = layoutOf(columns, records, terminalWidth)
  return `${header(layout)}${lines(layout, records)}`
}

/** A record as `key: value` lines. */
export function details(fields: Row): string {
  return Object.entries(fields)
    .map(([name, value]) => `${name}: ${cell(value)}\n`)
    .join('')
}

/** The width of a terminal; undefined for a file, a pipe, or a terminal that does not say. */
export function widthOf(stream: NodeJS.WriteStream): number | undefined {
  return stream.isTTY && stream.columns > 0 ? stream.columns : undefined
}

/** @param isWhole the columns that are never shortened */
function shrink(widths: number[], isWhole: boolean[], terminalWidth: number): void {
  for (let excess = lineWidth(widths, false) - terminalWidth; excess > 0; excess--) {
    // A part of a number or a date is another one.
    const texts = widths.map((width, n) => (isWhole[n] ? 0 : width))
    const widest = Math.max(...texts)
    if (widest <= MIN_WIDTH) return
    widths[texts.indexOf(widest)] = widest - 1
  }
}

function lineWidth(widths: number[], isCut: boolean): number {
  const total = widths.reduce((sum, width) => sum + width, 0) + GAP * (widths.length - 1)
  return isCut ? total + GAP + ELLIPSIS.length : total
}

function line(cells: string[], { widths, isRight, isCut }: Layout): string {
  const padded = cells.map((text, n) => pad(shorten(text, widths[n] ?? 0), widths[n] ?? 0, isRight[n] === true))
  return `${[...padded, ...(isCut ? [ELLIPSIS] : [])].join(' '.repeat(GAP)).trimEnd()}\n`
}

function pad(text: string, width: number, isRight: boolean): string {
  const space = ' '.repeat(Math.max(0, width - columnsOf(text)))
  return isRight ? space + text : text + space
}

function shorten(text: string, width: number): string {
  if (columnsOf(text) <= width) return text
  let short = ''
  let used = 1
  for (const { segment } of graphemes.segment(text)) {
    used += columnsOf(segment)
    if (used > width) break
    short += segment
  }
  return short + ELLIPSIS
}

/** A value as text, without control characters, which could move the cursor or break the table. */
export function cell(value: unknown): string {
  if (value === null || value === undefined) return '-'
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  return printable(text).replaceAll('\n', ' ')
}
