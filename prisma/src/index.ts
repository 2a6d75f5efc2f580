import { withAttempts } from './attempts.ts'
import type { Database, Engine, Options, TablesAndPrisma, WriteControl } from './database.ts'
import { isPostgresUrl, readPostgresUrl } from './postgres/url.ts'
import type { openPrisma } from './prisma.ts'
import { openSqlite } from './sqlite/database.ts'
import { databaseFile } from './sqlite/file.ts'
import { assertExists } from './sqlite/file-guard.ts'
import { migrate } from './sqlite/migrate.ts'
import type { RecordedChange } from './tables/audit.ts'
import type { Executor } from './tables/executor.ts'
import type { TableOptions } from './tables/locks.ts'
import { sqlTables } from './tables/tables.ts'

export type * from '../generated/client.ts'
export { type DatabaseCaller, workOf } from './callers.ts'
export type { Database, Limits, Options, TablesAndPrisma, WriteControl, WriteOptions, WriteTurns } from './database.ts'
export {
  Damaged,
  DiskFull,
  DurabilityLost,
  FileMoved,
  InDoubt,
  isBusy,
  NoServer,
  OutsideScope,
  ReadOnly,
  ReferenceViolation,
  UniqueViolation,
  Unreachable,
  Unusable,
} from './errors.ts'
export { FairQueue } from './fair-queue.ts'
export { LinkedQueue, QueueNode } from './linked-queue.ts'
export { createPacer } from './pacer.ts'
export { isPostgresUrl } from './postgres/url.ts'
export { Slots } from './slots.ts'
export { type AuditContext, type AuditedTable, digest, type RecordedChange, shownRecord } from './tables/audit.ts'
export { declarations, type Tables } from './tables/declarations.ts'
export type { Around } from './tables/executor.ts'
export { keysetRanges, type Position } from './tables/keyset.ts'
export { atLaterIndex, changed, type Written } from './tables/row-writes.ts'
export { both, type Scope, type ScopeFilter, scopeOf } from './tables/scope.ts'
export { type Scopes, scopedTables, unscoped } from './tables/scoped-tables.ts'
export { searchKey } from './tables/search.ts'
export { timestamp } from './tables/timestamp.ts'
export {
  type Change,
  type Changes,
  type Columns,
  type Contains,
  type Entity,
  isUnchanged,
  type Kind,
  type ListTable,
  type NewRow,
  type PageQuery,
  type Range,
  type RecordTable,
  type RowWrite,
  type Summary,
  type SummaryQuery,
  type Table,
  type Where,
} from './tables/types.ts'

/**
 * Applies pending migrations and opens the database.
 *
 * @param url `file:` and a path, relative to the working directory; a missing file or folder is created. Or
 * `postgresql://user:password@host:port/database`, with the parameters that `pg` supports, `pgbouncer=true` for a pooler
 * that cannot be detected, and `target_session_attrs` for the role of the server, also of several (`host:port,host:port`).
 * @throws Error with a remedy when the URL has another form, the file cannot be opened, the server does not respond in time,
 * or the database has a different migration history
 */
export async function createDatabase(url: string, options: Options = {}): Promise<Database> {
  const engine = await openEngine(url, options)
  const { around } = options
  let opening: Promise<Prisma> | undefined
  let opened: Prisma | undefined
  // Loaded on demand: Prisma Client takes memory and startup time.
  const prisma = async () => {
    opening ??= import('./prisma.ts').then(({ openPrisma }) => openPrisma(engine.read))
    opened = await opening.catch((error) => {
      opening = undefined
      throw error
    })
    return opened
  }
  let onWritten: (() => void) | undefined
  return {
    ...engine,
    onWritten: (listener) => {
      onWritten = listener
    },
    read: Object.assign(sqlTables(engine.read, { around }), { prisma: async () => (await prisma()).reads }),
    write: (work, options = {}) => {
      const { audit, records, isDryRun } = options
      let isMissing = false
      const loaded = () => {
        if (opened === undefined) {
          isMissing = true
          throw new Error('Prisma Client is not loaded yet.')
        }
        return opened
      }
      const run = (executor: Executor) => {
        // PostgreSQL runs a write again after a conflict.
        const changes = records ? [] : undefined
        return runWrite(executor, loaded, work, { around, audit, changes, isDryRun })
      }
      // Loading takes up to a second, in which the transaction would keep others waiting: it is undone and runs again.
      const write = () =>
        engine.write(run, options).catch(async (error) => {
          if (!isMissing) throw error
          isMissing = false
          await prisma()
          return engine.write(run, options)
        })
      const writing = around === undefined ? write() : around('transaction', '', write)
      if (onWritten !== undefined) writing.then(onWritten, ignore)
      return writing
    },
  }
}

const ignore = () => {}

const NO_CHANGES: readonly RecordedChange[] = []

type Prisma = Awaited<ReturnType<typeof openPrisma>>

async function runWrite<T>(
  executor: Executor,
  loaded: () => Prisma,
  work: (tx: TablesAndPrisma, control: WriteControl) => Promise<T>,
  options: TableOptions,
): Promise<T> {
  const { changes } = options
  const { attempt, guarded } = withAttempts(executor, changes)
  const open = async () => loaded().transaction(guarded, options.audit)
  let opened: ReturnType<typeof open> | undefined
  const tables = Object.assign(sqlTables(guarded, { ...options, locks: true }), {
    prisma: async () => {
      opened ??= open()
      return (await opened).models
    },
  })
  try {
    return await work(tables, { attempt, changes: changes ?? NO_CHANGES })
  } finally {
    opened?.then(
      ({ end }) => end(),
      () => {},
    )
  }
}

async function openEngine(url: string, options: Options): Promise<Engine> {
  const { queueTimeoutMs = 10_000, lockTimeoutMs = 5_000, writeTimeoutMs = 30_000 } = options
  if (isPostgresUrl(url)) {
    const { openPostgres } = await import('./postgres/database.ts')
    return openPostgres(url, { ...options, queueTimeoutMs, writeTimeoutMs })
  }
  const file = databaseFile(url)
  if (options.mustExist) assertExists(file)
  const limits = { queueTimeoutMs, lockTimeoutMs, writeTimeoutMs }
  let engine: Engine | undefined
  await migrate(file, undefined, async () => {
    engine = await openSqlite(file, limits, options)
  })
  return engine as Engine
}

/** The location part of a database URL, without secrets. */
export function databaseLabel(url: string): string {
  return isPostgresUrl(url) ? readPostgresUrl(url).label : url
}
