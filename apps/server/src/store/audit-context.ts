import { type WrittenNoun, written } from '@resource/contract'
import type { AuditContext, Tables } from '@resource/database'
import type { Context } from './context.ts'

/** The tables that are not called as their resource is. */
const TABLES: { [Noun in Exclude<WrittenNoun, keyof Tables>]: keyof Tables } = { keys: 'apiKeys' }

const secrets: { [Noun in WrittenNoun]?: { column: string; field: string } } = {
  users: { column: 'password_hash', field: 'password' },
}

const tables: AuditContext['tables'] = Object.fromEntries(
  (Object.keys(written) as WrittenNoun[]).map((noun) => {
    const shown = Object.keys(written[noun].procedures.get.output.shape)
    return [
      noun in TABLES ? TABLES[noun as keyof typeof TABLES] : noun,
      { resource: noun, shown, secret: secrets[noun] },
    ]
  }),
)

/**
 * What the audit log records of the changes that a call makes.
 *
 * @param procedure what is called: `users.update`
 */
export function auditContext(procedure: string, { caller, requestId, address }: Context): AuditContext {
  const shared = {
    actor: caller.name,
    actor_detail: caller.detail ?? null,
    procedure,
    request_id: requestId ?? null,
    address: address?.() ?? null,
  }
  return { shared, tables }
}
