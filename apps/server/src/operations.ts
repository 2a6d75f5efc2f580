import { type Contract, contract } from '@resource/contract'
import type { Database } from '@resource/database'
import { implement, type Operation } from '@resource/openapi'
import { authorize } from './access/caller.ts'
import { reversalService } from './audit/reversals.ts'
import { auditService } from './audit/service.ts'
import { Followers } from './changes/followers.ts'
import { changeService } from './changes/service.ts'
import { Tailer } from './changes/tailer.ts'
import { unavailable } from './http/database-errors.ts'
import { keyService } from './keys/service.ts'
import { passwordCheck } from './passwords/password-rules.ts'
import type { Config } from './process/config.ts'
import { sessionService } from './sessions/service.ts'
import { auditedTables } from './store/audit-context.ts'
import { type AllRules, collectionServices } from './store/collection.ts'
import type { Context } from './store/context.ts'
import { namedWrites, previewService } from './store/previews.ts'
import { proposalService } from './store/proposals.ts'
import { withScopes } from './store/scopes.ts'
import { withWrites } from './store/writes.ts'
import { userRules } from './users/rules.ts'

type Call = Operation<Context>['call']

export interface OperationOptions {
  /** Those of the process. */
  followers?: Followers
  /** Whether callers need credentials: keys exist, or an identity provider is configured. */
  needsCredentials: () => boolean | Promise<boolean>
  /** Rules in addition to those of the service. */
  rules?: Partial<AllRules>
  /** Whether the scopes of rules apply; default true. Not to callers who could open the database themselves. */
  areScoped?: boolean
  /** Called after an API key was created or revoked, or a session has ended. */
  onAccessChanged?: () => void
  /** Wraps the call of each procedure. */
  observe?: (procedure: string, call: Call) => Call
}

/** Implements every procedure of the contract. */
export function createOperations(
  database: Database,
  config: Config,
  {
    followers = new Followers(new Tailer(database)),
    needsCredentials,
    rules: more,
    areScoped = true,
    onAccessChanged = () => undefined,
    observe = (_procedure, call) => call,
  }: OperationOptions,
) {
  const checkPassword = passwordCheck(config.PASSWORD_MIN_LENGTH, needsCredentials)
  const rules: AllRules = { users: userRules(checkPassword), ...more }
  const audited = auditedTables(rules)
  const { services: ofCollections, collections } = collectionServices(rules, () => followers.tailer.position())
  const calls = new Map<string, Call>()
  const writes = namedWrites(calls)
  const services = {
    ...ofCollections,
    keys: keyService(database, onAccessChanged),
    audit: auditService(),
    changes: changeService(followers),
    proposals: proposalService(writes, config.PROPOSAL_DAYS),
    reversals: reversalService(audited, collections),
    sessions: sessionService(config, onAccessChanged),
  }
  const operations = implement<Contract, Context>(
    contract,
    { ...withWrites({ database, audited }, services), previews: previewService(writes, database.stepRows) },
    {
      translate: unavailable,
      authorize,
      observe: (procedure, call) => {
        calls.set(procedure, call)
        return observe(procedure, call)
      },
    },
  )
  return areScoped ? withScopes(operations, rules) : operations
}
