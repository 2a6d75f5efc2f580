import type { Output } from '@resource/contract'
import { type AuditEntry, declarations, timestamp } from '@resource/database'
import type { Services } from '../store/context.ts'
import { readPage } from '../store/page.ts'
import { notFound } from '../store/refusals.ts'
import { timeCondition } from './entry-times.ts'

const sortable = { id: 'id' } as const
// Not what reversals keep of hidden columns.
const shown = (Object.keys(declarations.auditEntries.columns) as (keyof AuditEntry)[]).filter((name) => name !== 'kept')

/** Reads the audit log. Its entries are created only by the writes they record. */
export function auditService(): Services['audit'] {
  return {
    list: async (
      { resource, record_id, actor, procedure, group: group_id, at_gte, at_lt, sort = 'id_desc', ...page },
      { read },
    ) => {
      const where = { resource, record_id, actor, procedure, group_id, ...(await timeCondition(read, at_gte, at_lt)) }
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
  return {
    ...row,
    group: group_id,
    at: timestamp(at),
    before: before === null ? null : JSON.parse(before),
    after: after === null ? null : JSON.parse(after),
  }
}
