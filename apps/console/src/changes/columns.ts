import { labelOf } from '../resources/describe.ts'
import { resources } from '../resources/index.ts'
import type { Column } from '../resources/resource.ts'

/** A record before and after a change; `before` is null for a new record, `after` for a deleted one. */
export interface RecordChange {
  resource: string
  before: Record<string, unknown> | null
  after: Record<string, unknown> | null
}

/** What shows of a field. */
export type ShownColumn = Pick<Column, 'field' | 'label' | 'kind' | 'decimals' | 'refersTo'>

/** The fields of changed records, also those that no table has: a password, and all of a resource without a page. */
export function columnsOf(noun: string, changes: Pick<RecordChange, 'before' | 'after'>[]): ShownColumn[] {
  const known = resources.find((resource) => resource.noun === noun)?.recordColumns ?? []
  const fields = new Set(changes.flatMap(({ before, after }) => Object.keys({ ...before, ...after })))
  const others = [...fields].filter((field) => !known.some((column) => column.field === field))
  return [
    ...known,
    ...others.map((field) => ({
      field,
      label: labelOf(field),
      kind: field.endsWith('_at') ? ('time' as const) : ('text' as const),
      decimals: 0,
    })),
  ]
}
