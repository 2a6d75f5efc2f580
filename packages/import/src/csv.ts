import { ImportError } from './error.ts'
import { guardFormula, unguardFormula } from './formulas.ts'

/** The text of a file, in parts. */
export type Text = AsyncIterable<string>

/** The longest row in characters, which an unclosed quote can reach. */
const MAX_ROW_CHARACTERS = 1024 * 1024
const LINE_BREAK = /\r\n|\r|\n/g
const BYTE_ORDER_MARK = '\uFEFF'

/** A row of a CSV file. */
interface CsvRow {
  /** Line on which the row starts, from 1. */
  line: number
  cells: string[]
}

/** The rows of CSV text without blank ones, one at a time. @throws ImportError */
export async function* csvRows(text: Text, delimiter: string): AsyncGenerator<CsvRow> {
  const parse = csvParser(delimiter)
  for await (const part of text) yield* parse(part, false)
  yield* parse('', true)
}

/**
 * The first rows of the beginning of a CSV file.
 *
 * @param sample may end within a row
 */
export function firstCsvRows(sample: string, delimiter: string, count: number): string[][] {
  const rows: string[][] = []
  try {
    for (const { cells } of csvParser(delimiter)(sample, true)) {
      rows.push(cells)
      if (rows.length === count) break
    }
  } catch (error) {
    // The end of the sample may be within quotes. An invalid file is reported when it is read.
    if (!(error instanceof ImportError)) throw error
  }
  return rows
}

/** CSV with one line for each row. Text that a spreadsheet would run as a formula is escaped. */
export function csvText(rows: unknown[][], delimiter = ',', lineBreak = '\n'): string {
  const quoted = (text: string) =>
    text.includes(delimiter) || /["\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
  return rows.map((cells) => cells.map((cell) => quoted(cellText(cell))).join(delimiter) + lineBreak).join('')
}

function cellText(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'string'
    ? guardFormula(value)
    : typeof value === 'object'
      ? JSON.stringify(value)
      : `${value}`
}

/** Reads CSV text part by part: the rows that are complete, and after the last part the one without a line break. */
function csvParser(delimiter: string): (part: string, isLast: boolean) => Generator<CsvRow> {
  const end = new RegExp(`\r\n|\r|\n|${delimiter.replace(/[^\w\s]/g, '\\$&')}`, 'g')
  let rest = ''
  let line = 1
  let isBegun = false

  return function* parse(part, isLast) {
    rest += part
    if (!isBegun && rest.startsWith(BYTE_ORDER_MARK)) rest = rest.slice(1)
    isBegun ||= rest !== ''
    let start = 0
    while (start < rest.length) {
      const row = rowAt(start, isLast)
      if (row === undefined) break
      if (row.cells.some((cell) => cell.trim() !== '')) yield { line, cells: row.cells }
      line += rest.slice(start, row.next).match(LINE_BREAK)?.length ?? 0
      start = row.next
    }
    rest = rest.slice(start)
    if (rest.length > MAX_ROW_CHARACTERS)
      throw new ImportError(`Line ${line}: a row must be at most ${MAX_ROW_CHARACTERS} characters`)
  }

  /** @returns undefined if the row continues in the next part */
  function rowAt(start: number, isLast: boolean): { cells: string[]; next: number } | undefined {
    const cells: string[] = []
    for (let at = start; ; ) {
      const isQuoted = rest[at] === '"'
      const close = isQuoted ? closingQuote(rest, at + 1) : at
      // A quote at the end of a part may be the first of two.
      if (isQuoted && !isLast && (close < 0 || close === rest.length - 1)) return undefined
      if (close < 0) throw new ImportError(`Line ${line}: the quote of a cell is not closed`)
      end.lastIndex = isQuoted ? close + 1 : at
      const match = end.exec(rest)
      const stop = match?.index ?? rest.length
      if (isQuoted && stop !== close + 1 && (match !== null || isLast))
        throw new ImportError(`Line ${line}: a cell must end after its closing quote`)
      const [found] = match ?? []
      // A line feed may follow in the next part.
      const isUnfinished = found === undefined || (found === '\r' && end.lastIndex === rest.length)
      if (isUnfinished && !isLast) return undefined
      cells.push(unguardFormula(isQuoted ? rest.slice(at + 1, close).replaceAll('""', '"') : rest.slice(at, stop)))
      if (found !== delimiter) return { cells, next: found === undefined ? rest.length : end.lastIndex }
      at = end.lastIndex
    }
  }
}

function closingQuote(text: string, from: number): number {
  for (let at = text.indexOf('"', from); at >= 0; at = text.indexOf('"', at + 2)) if (text[at + 1] !== '"') return at
  return -1
}
