import type { Input } from '@resource/contract'
import { faultsIn } from '@resource/import'
import { invalid, invalidFields } from './failures.ts'
import { type Field, fieldsOf, parseValue } from './fields.ts'
import {
  AFTER,
  COUNT,
  type JsonObject,
  KEY,
  LIMIT,
  type Noun,
  PAGE,
  type Procedure,
  proceduresOf,
  SORT,
} from './procedures.ts'

/** The search over all text fields of a list. */
const SEARCH = 'q'
/** What a write of all matching records changes. */
const CHANGES = 'changes' satisfies keyof Input<'items', 'updateWhere'>

/** The filters of a list, or of a write of all matching records. */
export function filterFields({ input }: Procedure): Field[] {
  return fieldsOf(input).filter(({ name }) => ![PAGE, LIMIT, AFTER, COUNT, SORT, CHANGES, KEY].includes(name))
}

/** Whether `--search` finds records of the noun. */
export function isSearchable(noun: Noun): boolean {
  return SEARCH in (proceduresOf(noun).list?.input.shape ?? {})
}

/** The remark on a search that covered only the first records. */
export function searchLimitText(noun: Noun, searched: number): string {
  const first = searched.toLocaleString('en')
  return `The database has no search index, so the search covers only the first ${first} ${noun}.`
}

/**
 * The filters `--where role=admin` and `--search` of a list, or of a write of all matching records, validated against the
 * contract.
 *
 * @throws Failure that names the option
 */
export function parseFilters(
  noun: Noun,
  verb: string,
  texts: string[],
  search: string | undefined,
  sort?: string,
): JsonObject {
  const procedure = proceduresOf(noun)[verb]
  if (procedure === undefined) throw invalid(`${noun} cannot be listed`)
  const fields = filterFields(procedure).filter(({ name }) => name !== SEARCH)
  const filters: JsonObject = {
    ...(sort !== undefined && { [SORT]: sort }),
    ...(search !== undefined && { [SEARCH]: search }),
  }
  for (const text of texts) {
    const [name = '', ...rest] = text.split('=')
    const field = fields.find((field) => field.name === name)
    if (field === undefined || rest.length === 0) {
      const known = fields.map(({ name }) => name).join(', ') || 'none'
      throw invalid(`--where: must be FIELD=VALUE, with FIELD one of: ${known}`)
    }
    if (name in filters) throw invalid(`--where: ${name} must be given once`)
    filters[name] = parseValue(field, rest.join('='))
  }
  // The filter `--all` and the changes are not among them.
  const faults = faultsIn(procedure.input, filters).filter(({ field }) => (field.split('[')[0] ?? '') in filters)
  if (faults.length === 0) return filters
  const named = fieldsOf(procedure.input).filter(({ name }) => name === SEARCH || name === SORT)
  throw invalidFields(faults, named)
}
