import Papa from 'papaparse'
import { ImportError } from './error.ts'
import { guardFormula, unguardFormula } from './formulas.ts'

/** The text of a file, in parts. */
export type Text = AsyncIterable<string>

/** The longest row in characters, which an unclosed quote can reach. */
const MAX_ROW_CHARACTERS = 1024 * 1024
const LINE_BREAK = /\r\n|\r|\n/g
/** What may precede the columns: a byte order mark, and the line with which Excel names the separator, `sep=;`. */
const PREAMBLE = /^\uFEFF?(?:"?sep=([^"\r\n])"?(?:\r\n|\r|\n))?/i
const MAX_PREAMBLE = 12

const FAULTS: Partial<Record<Papa.ParseError['code'], string>> = {
  MissingQuotes: 'the quote of a cell is not closed',
  InvalidQuotes: 'a cell must end after its closing quote',
}

/** A row of a CSV file. */
interface CsvRow {
  /** Line on which the row starts, from 1. */
  line: number
  cells: string[]
}

/** The rows of CSV text without blank ones. @throws ImportError */
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
  const rows: CsvRow[] = []
  try {
    csvParser(delimiter)(sample, true, rows)
  } catch (error) {
    // The end of the sample may be within quotes. An invalid file is reported when it is read.
    if (!(error instanceof ImportError)) throw error
  }
  return rows.slice(0, count).map(({ cells }) => cells)
}

/** The separator that the first line of a CSV file names: `;` for `sep=;`. */
export function namedDelimiter(sample: string): string | undefined {
  return PREAMBLE.exec(sample)?.[1]
}

/** CSV with one line for each row. Text that a spreadsheet would run as a formula is escaped. */
export function csvText(rows: unknown[][], delimiter = ',', lineBreak = '\n'): string {
  if (rows.length === 0) return ''
  return (
    Papa.unparse(
      rows.map((cells) => cells.map(cellOf)),
      { delimiter, newline: lineBreak },
    ) + lineBreak
  )
}

function cellOf(value: unknown): unknown {
  if (typeof value === 'string') return guardFormula(value)
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : value
}

/** Reads CSV text part by part. It adds the rows that are complete to `rows`, and the others with a later part. */
function csvParser(delimiter: string): (part: string, isLast: boolean, rows?: CsvRow[]) => CsvRow[] {
  let rest = ''
  let line = 0
  let newline: '\r' | '\n' | undefined

  return (part, isLast, rows = []) => {
    rest += part
    if (line === 0) {
      if (!isLast && rest.length < MAX_PREAMBLE) return rows
      const [preamble = '', named] = PREAMBLE.exec(rest) ?? []
      rest = rest.slice(preamble.length)
      line = named === undefined ? 1 : 2
    }
    newline ??= newlineIn(rest)
    if (newline === undefined && !isLast && rest.length <= MAX_ROW_CHARACTERS) return rows
    let start = 0
    Papa.parse<string[]>(rest, {
      delimiter,
      newline: newline ?? '\n',
      step({ data, errors: [fault], meta: { cursor } }) {
        // The row may continue in the next part.
        if (cursor === rest.length && !isLast) return
        if (fault !== undefined) throw new ImportError(`Line ${line}: ${FAULTS[fault.code] ?? fault.message}`)
        const cells = data.map((cell, n) => unguardFormula(n === data.length - 1 ? cell.replace(/\r$/, '') : cell))
        if (cells.some((cell) => cell.trim() !== '')) rows.push({ line, cells })
        line += rest.slice(start, cursor).match(LINE_BREAK)?.length ?? 0
        start = cursor
      },
    })
    rest = rest.slice(start)
    if (rest.length <= MAX_ROW_CHARACTERS) return rows
    throw new ImportError(
      `Line ${line}: a row must be at most ${MAX_ROW_CHARACTERS} characters. Check that each quote is closed`,
    )
  }
}

/**
 * The end of the rows, of which the parser takes one kind: CR alone, as in CSV of Excel for Mac, or LF, possibly after a CR.
 * Undefined if the text is too short to decide.
 */
function newlineIn(text: string): '\r' | '\n' | undefined {
  const bare = text.slice(0, MAX_ROW_CHARACTERS).replace(/"[^"]*"?/g, '""')
  const [found] = /\r\n|\n|\r(?=.)/s.exec(bare) ?? []
  return found === undefined ? undefined : found === '\r' ? '\r' : '\n'
}

/** Whether the bytes begin like UTF-16 without a byte order mark. They would be valid UTF-8, with a NUL beside each letter. */
export function isUtf16(bytes: Uint8Array): boolean {
  return bytes.length >= 2 && (bytes[0] === 0) !== (bytes[1] === 0)
}
