import { firstCsvRows, guessDelimiter, ID, ImportError, type Mode, sourceRows, type Target } from '@resource/import'
import { Failure, invalid } from '../failures.ts'
import { printable } from '../printable.ts'
import { isInteractive, prompt } from '../prompt.ts'
import type { GivenOptions } from './state.ts'

const CREATE: Mode = { action: 'create', key: ID }

/**
 * The mode of an import without an option for it. Creating is the default only for rows without ids: the import of an
 * export would double its records.
 *
 * @throws Failure if the rows have ids and nobody chooses
 */
export async function chooseMode(file: string, sample: string, options: GivenOptions, target: Target): Promise<Mode> {
  if (!(await hasIds(sample, options, target))) return CREATE
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

async function hasIds(sample: string, options: GivenOptions, target: Target): Promise<boolean> {
  const { format, map, delimiter = guessDelimiter(target, sample) } = options
  if (format === 'csv') return map?.[ID] === undefined && firstCsvRows(sample, delimiter, 1)[0]?.includes(ID) === true
  async function* text() {
    yield sample
  }
  try {
    for await (const { source } of sourceRows(text(), format, delimiter)) if (Object.hasOwn(source, ID)) return true
  } catch (error) {
    // The sample may end within an element. An invalid file is reported when it is read.
    if (!(error instanceof ImportError)) throw error
  }
  return false
}
