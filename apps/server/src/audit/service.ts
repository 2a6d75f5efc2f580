import type { Output } from '@resource/contract'
import { type AuditEntry, declarations, timestamp, unscoped, type Where } from '@resource/database'
import type { Services } from '../store/context.ts'
import { readPage } from '../store/page.ts'
import { recordedIn } from '../store/recorded.ts'
import { notFound } from '../store/refusals.ts'
import { idsAround, timeCondition } from './entry-times.ts'

const sortable = { id: 'id' } as const
// Not what reversals keep of hidden columns.
const shown = (Object.keys(declarations.auditEntries.columns) as (keyof AuditEntry)[]).filter((name) => name !== 'kept')

// What an entry of each change lacks or has.
const IMAGES = {
  created: { before: null },
  updated: { before: { not: null }, after: { not: null } },
  deleted: { after: null },
} satisfies Record<string, Where<AuditEntry>>

/** Reads the audit log. Its entries are created only by the writes they record. */
export function auditService(): Services['audit'] {
  return {
    list: async (
      { resource, record_id, actor, procedure, change, request_id, group, at_gte, at_lt, sort = 'id_desc', ...page },
      { read },
    ) => {
      const times = await timeCondition(unscoped(read), at_gte, at_lt)
      const ids = request_id === undefined ? times.id : await idsAround(unscoped(read), request_id)
      const images = change && IMAGES[change]
      const where = { resource, record_id, actor, procedure, request_id, group_id: group, ...images, ...times, id: ids }
      const { rows, facts } = await readPage(read.auditEntries, where, sortable, { sort, ...page }, shown)
      return { audit: rows.map(present), ...facts }
    },

    get: async ({ id }, { read }) => {
      const row = await read.auditEntries.find({ id }, shown)
      if (row === undefined) throw notFound('Entry')
      return present(row)
    },
  }
}

function present({ at, before, after, group_id, ...row }: Omit<AuditEntry, 'kept'>): Output<'audit', 'get'> {
  const records = [recordedIn(before), recordedIn(after)]
  const [was = null, is = null] = records
  return {
    ...row,
    group: group_id,
    at: timestamp(at),
    before: was,
    after: is,
    ...(records.includes(undefined) && { is_damaged: true }),
  }
}
