import type { Input, Output } from '@resource/contract'
import type { AuditEntry, Tables } from '@resource/database'
import { readPage } from '../store/page.ts'
import { timestamp } from '../store/timestamp.ts'
import { notFound } from '../store/versioned.ts'
import { idsOf } from './times.ts'

export type Entry = Output<'audit', 'get'>

const sortable = { id: 'id' } as const

export async function listEntries(
  db: Tables,
  { resource, record_id, actor, procedure, at_gte, at_lt, sort = 'id_desc', ...page }: Input<'audit', 'list'>,
) {
  const where = { resource, record_id, actor, procedure, ...(await idsOf(db, at_gte, at_lt)) }
  const { rows, facts } = await readPage(db.auditEntries, where, sortable, { sort, ...page })
  return { audit: rows.map(present), ...facts }
}

/** @throws Problem 404 */
export async function findEntry(db: Tables, id: number): Promise<Entry> {
  const row = await db.auditEntries.find({ id })
  if (row === undefined) throw notFound('Entry')
  return present(row)
}

function present({ at, before, after, ...row }: AuditEntry): Entry {
  return {
    ...row,
    at: timestamp(at),
    before: before === null ? null : JSON.parse(before),
    after: after === null ? null : JSON.parse(after),
  }
}
