import { type CollectionFacts, contract, type Output } from '@resource/contract'
import { type Proposal, type Tables, timestamp, type Where } from '@resource/database'
import { ApiError, FieldError, type Path, withoutUnknown } from '@resource/openapi'
import { authorize } from '../access/caller.ts'
import type { AuditedTable, Effect } from './audited-tables.ts'
import type { Context, Services } from './context.ts'
import { presentEffect } from './effect.ts'
import { readPage } from './page.ts'
import { forOthers, inputOf, isProposable, type NamedWrites, withoutKey, writeNamed } from './previews.ts'
import { invalid, notFound } from './refusals.ts'
import { storedScopes, withStored } from './scopes.ts'

const DAY_MS = 24 * 60 * 60 * 1000
const listed = Object.keys(contract.proposals.procedures.list.output.shape.proposals.element.shape)

const DECISIONS = contract.proposals.procedures.setStatus.input.shape.status.options

type Decision = (typeof DECISIONS)[number]
type Stored = Pick<Proposal, 'id' | 'status' | 'expires_at'>

/** Stores writes that others decide on, and carries them out exactly as shown. @param days after which open ones expire */
export function proposalService(writes: NamedWrites, days: number): Services['proposals'] {
  return {
    list: async ({ status, proposer, request_id, sort = 'id_desc', ...page }, { read }) => {
      const where = { ...(status !== undefined && withStatus(status)), proposer, request_id }
      const { rows, facts } = await readPage(read.proposals, where, { id: 'id' }, { sort, ...page }, listed)
      return { proposals: rows.map(summaryOf), ...facts }
    },

    get: async ({ id }, context, wanted = ['is_current']) => {
      const row = await find(context.read, id)
      const proposal = { ...present(row), is_current: false, current_changes: [], obstacle: null }
      if (proposal.status !== 'open' || !wanted.includes('is_current')) return proposal
      try {
        const strict = withStored({ ...context, isStrict: true }, row.scopes)
        const effect = await writes.preview(row.operation, proposal.input, forOthers(strict))
        const is_current = effect.fingerprint === row.effect
        return { ...proposal, is_current, current_changes: presentEffect(effect).changes }
      } catch (error) {
        // A standby, too, shows proposals.
        if (!(error instanceof ApiError) || [429, 500].includes(error.status)) throw error
        return { ...proposal, obstacle: (await orLeft(error, row, context)).message }
      }
    },

    create: async ({ operation, input: given, reason }, context) => {
      const name = writeNamed(operation)
      if (!isProposable(name)) throw invalid('operation', 'must write a collection, or undo a request')
      const input = withoutKey(given)
      refuseHidden(hiddenFields(name, input))
      const prepare = async () => {
        const effect = await writes.preview(name, input, forOthers({ ...context, ifEffect: undefined }))
        if (effect.changes.length === 0) throw invalid('input', 'changes nothing, so there is nothing to decide')
        refuseHidden(hiddenIn(effect))
        return presentEffect(effect)
      }
      const work = async (tx: Tables, { changes, ...preview }: Awaited<ReturnType<typeof prepare>>) => {
        const created_at = new Date()
        const create = {
          operation: name,
          // A field that has no effect would mislead those who decide.
          input: JSON.stringify(withoutUnknown(inputOf(name), input)),
          reason,
          status: 'open',
          ...preview,
          changes: JSON.stringify(changes),
          proposer: context.caller.name,
          scopes: storedScopes(context.scopes),
          created_at,
          expires_at: new Date(created_at.getTime() + days * DAY_MS),
        }
        const [{ after }] = await tx.proposals.write([{ create }])
        return present(after)
      }
      return context.write(work, { prepare, autocommit: true })
    },

    setStatus: async ({ id, status, idempotency_key: key }, context) => {
      const row = await find(context.read, id)
      if (status !== 'withdrawn') authorize(context, 'writer')
      else if (row.proposer !== context.caller.name)
        throw new ApiError(403, 'Only the proposer can withdraw a proposal', { reason: 'role' })
      if (status !== 'applied') return context.write(async (tx) => present(await close(tx, row, status, context)))
      // With a key this may be a repetition, which gets the first answer.
      if (key === undefined) checkOpen(row)
      let other: Effect | undefined
      const settle = async (effect: Effect, tx: Tables | undefined) => {
        if (tx !== undefined) await close(tx, row, status, context)
        if (effect.fingerprint !== row.effect) {
          other = effect
          throw new ApiError(412, 'The proposal would no longer do what it shows', { reason: 'effect_changed' })
        }
        await context.settle?.(effect, tx)
      }
      try {
        const applying = { ...context, isStrict: true, proposedBy: row.proposer, settle }
        await writes.call(row.operation, JSON.parse(row.input), withStored(applying, row.scopes))
      } catch (error) {
        // Whatever the write found, another caller may have been first.
        checkOpen(await find(context.read, id))
        if (!(error instanceof ApiError)) throw error
        if (other === undefined) throw withoutData(await orLeft(error, row, context))
        throw new ApiError(412, error.message, { reason: error.reason, data: presentEffect(other) })
      }
      return present(await find(context.read, id))
    },
  }
}

async function find({ proposals }: Tables, id: number): Promise<Proposal> {
  const row = await proposals.find({ id })
  if (row === undefined) throw notFound('Proposal')
  return row
}

/** Closes an open proposal. @throws ApiError 409 if it is closed already */
async function close(tx: Tables, row: Proposal, status: Decision, { caller, requestId }: Context): Promise<Proposal> {
  checkOpen(row)
  const request_id = status === 'applied' ? (requestId ?? null) : null
  const change = { status, decided_by: caller.name, decided_at: new Date(), request_id }
  const [written] = await tx.proposals.write([{ id: row.id, versions: [row.version], change }])
  if (written !== undefined) return written.after
  throw closed(row.id, 'was closed meanwhile')
}

/** @throws ApiError 409 */
function checkOpen(row: Stored): void {
  const status = statusOf(row)
  if (status === 'open') return
  throw closed(row.id, status === 'expired' ? 'has expired' : `is already ${status}`)
}

function closed(id: number, state: string): ApiError {
  return new ApiError(409, `Proposal ${id} ${state}`, { reason: 'proposal_closed' })
}

function statusOf({ status, expires_at }: Stored): Decision | 'open' | 'expired' {
  const isExpired = expires_at.getTime() <= Date.now()
  return DECISIONS.find((decision) => decision === status) ?? (isExpired ? 'expired' : 'open')
}

function withStatus(status: string): Where<Proposal> {
  const now = new Date()
  if (status === 'expired') return { status: 'open', expires_at: { lte: now } }
  return { status, ...(status === 'open' && { expires_at: { gt: now } }) }
}

function summaryOf({ version: _, scopes: __, decided_at, created_at, expires_at, ...row }: Proposal) {
  return {
    ...row,
    status: statusOf({ ...row, expires_at }),
    decided_at: decided_at && timestamp(decided_at),
    created_at: timestamp(created_at),
    expires_at: timestamp(expires_at),
  }
}

function present(row: Proposal): Output<'proposals', 'create'> {
  return { ...summaryOf(row), input: JSON.parse(row.input), changes: JSON.parse(row.changes) }
}

/** @throws FieldError 400 for fields that nobody sees, at their paths in the input */
function refuseHidden(paths: Path[]): void {
  const message = 'is never shown, so nobody could review it: it cannot be proposed'
  if (paths.length > 0)
    throw new FieldError(
      400,
      paths.map((path) => ({ path: ['input', ...path], message })),
    )
}

/** The paths in an input of the fields that the collection of a write never shows. */
function hiddenFields(name: string, input: object): Path[] {
  const { collection }: { collection?: CollectionFacts } = contract[name.slice(0, name.indexOf('.')) as 'users']
  const hidden = collection?.hidden ?? []
  const pathsIn = (value: object): Path[] =>
    Object.entries(value).flatMap(([key, inner]): Path[] => {
      const at = Array.isArray(value) ? Number(key) : key
      if (hidden.includes(key)) return [[at]]
      return typeof inner === 'object' && inner !== null ? pathsIn(inner).map((path) => [at, ...path]) : []
    })
  return pathsIn(input)
}

/** The hidden fields that a write sets, whatever its input calls them; not those of a deleted record that comes back. */
function hiddenIn({ tables, changes }: Effect): Path[] {
  const fields = changes.flatMap(({ table, written = {}, isRestored = false }) =>
    (tables[table] as AuditedTable).secrets.flatMap(({ column, field }) =>
      isRestored || Reflect.get(written, column) == null ? [] : [field],
    ),
  )
  return [...new Set(fields)].map((field) => [field])
}

/** The error of a proposal: a 404 for a record that the caller has access to is a 409. */
async function orLeft(error: ApiError, { operation, input }: Proposal, { read }: Context): Promise<ApiError> {
  const { id } = JSON.parse(input)
  if (error.status !== 404 || typeof id !== 'number') return error
  const noun = operation.slice(0, operation.indexOf('.')) as 'items'
  if ((await read[noun].find({ id }, ['id'])) === undefined) return error
  return new ApiError(409, `The record ${id} has left what its proposer has access to`, { reason: 'scope' })
}

/** An error without the data that only its own procedure declares. */
function withoutData(error: ApiError): ApiError {
  if (error.data === undefined) return error
  const { status, message, fields, headers, reason, cause } = error
  return new ApiError(status, message, { fields, headers, reason, cause })
}
