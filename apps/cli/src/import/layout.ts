import {
  assignColumns,
  columnNames,
  findDecimalComma,
  firstCsvRows,
  guessDelimiter,
  importFields,
  namedDelimiter,
  numberTexts,
  recordOf,
  requiredFields,
  type Target,
  withDecimalPoint,
} from '@resource/import'
import { Failure, invalid } from '../failures.ts'
import { log } from '../output.ts'
import { printable } from '../printable.ts'
import { confirm, isInteractive } from '../prompt.ts'
import type { FileLayout, ImportOptions } from './state.ts'

const SAMPLE_ROWS = 200

/**
 * The layout of a file. What was guessed of a CSV file is shown and must be confirmed.
 *
 * @param sample the beginning of the file; its last row may be incomplete
 */
export async function layoutOf(sample: string, options: ImportOptions, target: Target): Promise<FileLayout> {
  const { format, mode, clearEmpty: emptyIsNull } = options
  if (format !== 'csv') return { mode, columns: {}, decimalComma: false, emptyIsNull, delimiter: ',' }
  const { layout, guesses } = guessLayout(sample, options, target)
  if (guesses.length === 0) return layout
  if (options.yes) log(guesses.join('\n'))
  else if (!isInteractive()) {
    throw invalid(
      `${guesses.join('\n')}\nThese are guesses. Add --yes to accept them, or set --map, --delimiter and --decimal-comma`,
    )
  } else {
    process.stderr.write(`${printable(guesses.join('\n'))}\n`)
    if (!(await confirm('Import the file like this?'))) throw new Failure('interrupted', 'Nothing was imported.')
  }
  return layout
}

/**
 * @returns the layout, and what was guessed, as lines for the user
 * @throws Failure for a column that fits no field, for a field with several columns, for a required field without a column,
 * and for numbers such as `1,299`
 */
function guessLayout(
  sample: string,
  options: ImportOptions,
  target: Target,
): { layout: FileLayout; guesses: string[] } {
  const { mode, map = {}, clearEmpty: emptyIsNull } = options
  const known = options.delimiter ?? namedDelimiter(sample)
  const delimiter = known ?? guessDelimiter(target, sample)
  const [first = [], ...rows] = firstCsvRows(sample, delimiter, SAMPLE_ROWS)
  if (first.length === 0) throw invalid('The file is empty: its first line must name the columns')
  const header = columnNames(first)
  const names = importFields(target, mode).map(({ name }) => name)
  const wrong = Object.entries(map).find(([column, name]) => header.includes(column) && name && !names.includes(name))
  if (wrong) throw invalid(`--map: ${wrong[1]} is not one of: ${names.join(', ')}`)
  const given = Object.fromEntries(Object.entries(map).map(([column, name]) => [column, name || null]))
  const assigned = assignColumns(target, mode, header, given)
  const unknown = header.filter((column) => !assigned.has(column))
  if (unknown.length > 0) {
    const [first] = unknown
    throw invalid(
      `Unknown columns: ${[...new Set(unknown)].map((name) => name || '(unnamed)').join(', ')}. Allowed: ${names.join(', ')}. Assign them with --map '${first}=FIELD', or leave them out with --map '${first}='`,
    )
  }
  const columns = recordOf([...assigned])
  for (const name of names) {
    const several = header.filter((column) => columns[column] === name)
    if (several.length > 1)
      throw invalid(`Several columns for ${name}: ${several.join(', ')}. Leave out all but one with --map COLUMN=`)
  }
  const missing = requiredFields(target, mode).filter((name) => !Object.values(columns).includes(name))
  if (missing.length > 0) throw invalid(`Missing columns: ${missing.join(', ')}`)
  const sources = rows.map((cells) => recordOf(header.map((name, n) => [name, cells[n] ?? ''])))
  const decimal = options.decimalComma === undefined ? decimalCommaIn(numberTexts(target, columns, sources)) : undefined
  const guessed = header.filter(
    (column) => columns[column] && columns[column] !== column && !Object.hasOwn(map, column),
  )
  const guesses = [
    ...(guessed.length > 0 ? [`Columns: ${guessed.map((name) => `${name} → ${columns[name]}`).join(', ')}`] : []),
    ...(known === undefined && delimiter !== ',' ? [`Separator: ${delimiter === '\t' ? 'tab' : delimiter}`] : []),
    ...(decimal === undefined ? [] : [`Decimal comma: ${decimal}`]),
  ]
  const decimalComma = options.decimalComma ?? decimal !== undefined
  return { layout: { mode, columns, decimalComma, emptyIsNull, delimiter }, guesses }
}

/**
 * A number that shows that numbers have a decimal comma, as `24,5 is 24.5`; undefined if none does.
 *
 * @throws Failure if it could also have a comma between thousands
 */
function decimalCommaIn(numbers: string[]): string | undefined {
  const found = findDecimalComma(numbers)
  if (found === undefined) return undefined
  const { number, isAmbiguous } = found
  const meaning = `${number} is ${withDecimalPoint(number)}`
  if (!isAmbiguous) return meaning
  throw invalid(
    `${meaning} with a decimal comma, and ${number.replace(',', '')} with a comma between thousands. ` +
      'Use --decimal-comma for the first; for the second, remove these commas from the file',
  )
}
