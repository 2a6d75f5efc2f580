import { faultsIn } from '@resource/import'
import { invalid, invalidFields } from './failures.ts'
import { type Field, fieldsOf, parseValue } from './fields.ts'
import { AFTER, COUNT, type JsonObject, LIMIT, type Noun, PAGE, proceduresOf, SORT } from './procedures.ts'

/** The search over all text fields of a list. */
const SEARCH = 'q'

/** The filters of a noun's list. */
export function filterFields(noun: Noun): Field[] {
  const list = proceduresOf(noun).list
  return list === undefined
    ? []
    : fieldsOf(list.input).filter(({ name }) => ![PAGE, LIMIT, AFTER, COUNT, SORT].includes(name))
}

/** Whether `--search` finds records of the noun. */
export function isSearchable(noun: Noun): boolean {
  return filterFields(noun).some(({ name }) => name === SEARCH)
}

/** The remark on a search that covered only the first records. */
export function searchLimitText(noun: Noun, searched: number): string {
  const first = searched.toLocaleString('en')
  return `The database has no search index, so the search covers only the first ${first} ${noun}.`
}

/**
 * The list input for `--filter role=admin` and `--search`, validated against the contract.
 *
 * @throws Failure that names the option
 */
export function parseFilters(noun: Noun, texts: string[], search: string | undefined, sort?: string): JsonObject {
  const { list } = proceduresOf(noun)
  if (list === undefined) throw invalid(`${noun} cannot be listed`)
  const fields = filterFields(noun).filter(({ name }) => name !== SEARCH)
  const filters: JsonObject = {
    ...(sort !== undefined && { [SORT]: sort }),
    ...(search !== undefined && { [SEARCH]: search }),
  }
  for (const text of texts) {
    const [name = '', ...rest] = text.split('=')
    const field = fields.find((field) => field.name === name)
    if (field === undefined || rest.length === 0) {
      const known = fields.map(({ name }) => name).join(', ') || 'none'
      throw invalid(`--filter: must be FIELD=VALUE, with FIELD one of: ${known}`)
    }
    if (name in filters) throw invalid(`--filter: ${name} must be given once`)
    filters[name] = parseValue(field, rest.join('='))
  }
  const faults = faultsIn(list.input, filters)
  if (faults.length === 0) return filters
  const named = fieldsOf(list.input).filter(({ name }) => name === SEARCH || name === SORT)
  throw invalidFields(faults, named)
}
