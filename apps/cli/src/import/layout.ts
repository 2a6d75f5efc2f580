import type { z } from 'zod'
import { Failure, invalid } from '../failures.ts'
import { type Field, fieldsOf } from '../fields.ts'
import { log } from '../output.ts'
import { printable } from '../printable.ts'
import { confirm, isInteractive } from '../prompt.ts'
import { ID } from '../service.ts'
import { type CsvLayout, guessLayout } from './rows/csv-layout.ts'
import type { ImportMode, ImportOptions } from './state.ts'

/** The layout of a CSV file. What was guessed is shown and must be confirmed. */
export async function layoutOf(
  sample: string,
  options: ImportOptions,
  schema: z.ZodObject,
  ignored: string[],
): Promise<CsvLayout | undefined> {
  if (options.format !== 'csv') return undefined
  const fields = fieldsOf(schema)
  const required = requiredFields(fields, options.mode)
  const { layout, guesses } = guessLayout(sample, fields, ignored, required, options)
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

/** The fields for which a CSV file needs a column. */
function requiredFields(fields: Field[], { action, key }: ImportMode): string[] {
  if (action === 'create') return fields.flatMap(({ name, required }) => (required ? [name] : []))
  // Rows without an id are created.
  return action === 'upsert' && key === ID ? [] : [key]
}
