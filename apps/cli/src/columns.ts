import type { ListedRecord } from '@resource/client'
import { fieldsOf } from './fields.ts'
import { type Noun, proceduresOf, recordSchema } from './service.ts'

// Where a whole record is wider than a screen. A noun that is not named shows every field.
const SHOWN: { [N in Noun]?: (keyof ListedRecord<N>)[] } = {
  users: ['id', 'name', 'email', 'role', 'status', 'age'],
  audit: ['id', 'at', 'actor', 'actor_detail', 'procedure', 'record_id'],
}

/** Every field of a noun's record, in the contract's order. */
export function recordFields(noun: Noun): string[] {
  const list = proceduresOf(noun).list
  const record = list && recordSchema(noun, list.output)
  return record ? fieldsOf(record).map(({ name }) => name) : []
}

/** The fields that a table shows. */
export function shownFields(noun: Noun): string[] {
  return SHOWN[noun] ?? recordFields(noun)
}
