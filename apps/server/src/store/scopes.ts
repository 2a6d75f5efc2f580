import { type Contract, contract } from '@resource/contract'
import {
  both,
  declarations,
  type Kind,
  type Scope,
  type ScopeFilter,
  type Scopes,
  scopedTables,
  scopeOf,
  type Tables,
  unscoped,
} from '@resource/database'
import { ApiError, type Operation } from '@resource/openapi'
import type { Caller } from '../access/caller.ts'
import type { Context } from './context.ts'
import type { Values } from './row-mapping.ts'
import { ScopedLog } from './scoped-log.ts'

type Rules = { [N in keyof Contract]?: { scope?: (caller: Caller) => ScopeFilter<Values> | undefined } }

/** Narrows every call to the records that exist for its caller. Without scopes in the rules the operations stay as they are. */
export function withScopes(operations: Operation<Context>[], rules: object): Operation<Context>[] {
  const scoped = Object.entries(rules as Rules).flatMap(([noun, { scope } = {}]) => (scope ? [{ noun, scope }] : []))
  if (scoped.length === 0) return operations
  const narrowed = (context: Context): Context => {
    try {
      const scopes = new Map(
        scoped.flatMap(({ noun, scope }): [string, Scope][] => {
          const filter = scope(context.caller)
          return filter === undefined ? [] : [[noun, scopeOf([filter], columnsOf(noun))]]
        }),
      )
      return scopes.size === 0 ? context : inScopes(context, scopes)
    } catch (error) {
      throw new ApiError(500, 'Internal server error', { cause: error })
    }
  }
  return operations.map((operation) => ({
    ...operation,
    call: async (input, context, view) => operation.call(input, narrowed(context), view),
    findMissing: async (input, context) => operation.findMissing(input, narrowed(context)),
  }))
}

/** The context of a caller for whom only these records exist, and only the proposals of his own: others show records. */
function inScopes(context: Context, scopes: Map<PropertyKey, Scope>): Context {
  const own = scopeOf([{ proposer: context.caller.name }], columnsOf('proposals'))
  const all = new Map([...scopes, ['proposals', own] as const])
  return { ...context, scopes: all, read: tablesIn(all, unscoped(context.read)) }
}

/** The tables, of which only the scopes exist. */
export function tablesIn<T extends Tables>(scopes: Scopes, tables: T): T {
  return scopedTables(tables, scopes, { auditEntries: new ScopedLog(tables.auditEntries, scopes) })
}

/** A text that is the same for the same scopes, empty without any. */
export function keyOf(scopes: Scopes | undefined): string {
  return scopes === undefined ? '' : JSON.stringify([...scopes].map(([noun, { filters }]) => [noun, filters]))
}

/** The scopes of the collections as text, for {@link withStored}; null without any. */
export function storedScopes(scopes: Scopes | undefined): string | null {
  if (scopes === undefined) return null
  return JSON.stringify(Object.fromEntries([...scopes].map(([noun, { filters }]) => [noun, filters])))
}

/** The context for a write on behalf of another caller too: only records exist that exist for both. */
export function withStored(context: Context, stored: string | null): Context {
  if (stored === null) return context
  const filters: Record<string, ScopeFilter<Values>[]> = JSON.parse(stored)
  const all = new Map(context.scopes)
  for (const [noun, own] of Object.entries(filters)) {
    if (!(noun in contract) || !('collection' in contract[noun as keyof Contract])) continue
    const columns = columnsOf(noun)
    // A field of an earlier version of the service.
    const isLost = own.some(
      (filter) => filter !== 'nothing' && Object.keys(filter).some((field) => !(field in columns)),
    )
    const other = scopeOf(isLost ? ['nothing'] : own, columns)
    const scope = all.get(noun)
    all.set(noun, scope === undefined ? other : both(scope, other))
  }
  return { ...context, scopes: all, read: tablesIn(all, unscoped(context.read)) }
}

function columnsOf(noun: string): Readonly<Record<string, Kind>> {
  return declarations[noun as keyof Tables].columns
}
