import type { ListedRecord } from '@resource/client'
import { fieldsOf } from './fields.ts'
import { type Noun, proceduresOf, recordSchema } from './procedures.ts'

// For records wider than a terminal. Other nouns show every field.
const TABLE_COLUMNS: { [N in Noun]?: (keyof ListedRecord<N>)[] } = {
  users: ['id', 'name', 'email', 'role', 'status', 'age'],
  keys: ['id', 'name', 'role', 'owner', 'prefix', 'expires_at', 'revoked_at', 'last_used_at'],
  proposals: ['id', 'status', 'operation', 'proposer', 'reason', 'created_at'],
  audit: ['id', 'at', 'actor', 'actor_detail', 'procedure', 'record_id'],
}

/** All fields of a noun's record, in the order of the contract. */
export function recordFields(noun: Noun): string[] {
  const list = proceduresOf(noun).list
  const record = list && recordSchema(noun, list.output)
  return record ? fieldsOf(record).map(({ name }) => name) : []
}

/** The fields shown in a table. */
export function tableColumns(noun: Noun): string[] {
  return TABLE_COLUMNS[noun] ?? recordFields(noun)
}
