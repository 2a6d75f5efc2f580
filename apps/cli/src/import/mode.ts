import { Failure, invalid } from '../failures.ts'
import { printable } from '../printable.ts'
import { isInteractive, prompt } from '../prompt.ts'
import { ID } from '../service.ts'
import { hasColumn } from './rows/csv-layout.ts'
import { hasField } from './rows/rows.ts'
import type { GivenOptions, ImportMode } from './state.ts'

const CREATE: ImportMode = { action: 'create', key: ID }

/**
 * The mode of an import without an option for it. Creating is the default only for rows without ids: the import of an
 * export would double its records.
 *
 * @throws Failure if the rows have ids and nobody chooses
 */
export async function chooseMode(file: string, sample: string, options: GivenOptions): Promise<ImportMode> {
  if (!(await hasIds(sample, options))) return CREATE
  const fact = `${file === '-' ? 'stdin' : file} has ids.`
  if (options.yes || !isInteractive()) {
    throw invalid(
      `${fact} Use --update to update the records with these ids, or --create to create copies with new ids`,
    )
  }
  process.stderr.write(`${printable(fact)}\n`)
  const answer = await prompt('Update the records with these ids, or create copies (update/create)?', 'neither')
  if (answer === 'create') return CREATE
  if (answer === 'update') return { action: 'update', key: ID }
  throw new Failure('interrupted', 'Nothing was imported.')
}

async function hasIds(sample: string, { format, delimiter, map }: GivenOptions): Promise<boolean> {
  if (format !== 'csv') return hasField(ID, sample, format)
  return map?.[ID] === undefined && hasColumn(ID, sample, delimiter)
}
