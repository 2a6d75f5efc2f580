import { audited, type CollectionFacts } from '@resource/contract'
import { shapeOf } from '@resource/contract/schema'
import { type AuditContext, declarations, type Tables } from '@resource/database'
import type { AuditedTables } from './audited-tables.ts'
import type { AllRules } from './collection.ts'
import type { Context } from './context.ts'
import { searchColumn } from './row-mapping.ts'

interface Declared {
  columns: Readonly<Record<string, string>>
  unique: readonly PropertyKey[]
}

type Noun = keyof typeof audited

/** The tables whose name differs from that of their resource. */
const TABLES: { [N in Exclude<Noun, keyof Tables>]: keyof Tables } = { keys: 'apiKeys' }

/** The tables whose changes the audit log records. A hidden field is recorded as `set`, under its own name. */
export function auditedTables(rules: Partial<AllRules>): AuditedTables {
  const tables = (Object.keys(audited) as Noun[]).map((noun) => {
    const { procedures, collection } = audited[noun] as (typeof audited)[Noun] & {
      collection?: CollectionFacts
    }
    const shown = Object.keys(procedures.get.output.shape)
    const derived = Object.entries(rules[noun as keyof AllRules]?.derived ?? {})
    const secrets = derived.flatMap(([column, { from }]) =>
      typeof from === 'string' && collection?.hidden.includes(from) ? [{ column, field: from }] : [],
    )
    const made = [
      ...(collection?.search ?? []).map(searchColumn),
      ...derived.flatMap(([column, { make }]) => (make ? [column] : [])),
    ]
    const name = noun in TABLES ? TABLES[noun as keyof typeof TABLES] : noun
    const { columns, unique }: Declared = declarations[name as keyof Tables]
    const sent = new Set(Object.values(procedures).flatMap(({ input }) => Object.keys(shapeOf(input))))
    // A time or a unique value that no caller sends is one that the service makes up.
    const isBound = (field: string) =>
      (sent.has(field) && collection?.readOnly[field] === undefined) ||
      !(columns[field]?.startsWith('date') || unique.includes(field))
    const bound = shown.filter((field) => field !== 'id' && field !== 'version' && isBound(field))
    // Changes of other resources are not undone.
    const kept =
      collection === undefined
        ? []
        : Object.keys(columns).filter((column) => !shown.includes(column) && !made.includes(column))
    return [name, { resource: noun, shown, secrets, kept, bound, references: collection?.references ?? {} }]
  })
  return Object.fromEntries(tables)
}

/**
 * The context that the audit records of a call share.
 *
 * @param procedure such as `users.update`
 * @param reverses the id of the request that the call undoes
 */
export function auditContext(
  procedure: string,
  { caller, requestId, address, proposedBy, group }: Context,
  tables: AuditContext['tables'],
  reverses: string | undefined,
): AuditContext {
  const shared = {
    actor: caller.name,
    actor_detail: caller.detail ?? null,
    procedure,
    request_id: requestId ?? null,
    address: address?.() ?? null,
    ...(proposedBy !== undefined && { proposed_by: proposedBy }),
    ...(group !== undefined && { group_id: group }),
    ...(reverses !== undefined && { reverses }),
  }
  return { shared, tables }
}
