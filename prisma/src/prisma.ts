import { AsyncLocalStorage } from 'node:async_hooks'
import {
  type ArgType,
  type ColumnType,
  ColumnTypeEnum,
  type SqlDriverAdapter,
  type SqlDriverAdapterFactory,
  type SqlQuery,
  type SqlQueryable,
} from '@prisma/driver-adapter-utils'
import type { PrismaClient } from '../generated/client.ts'
import { ForeignKeyFault, ReferenceViolation } from './errors.ts'
import type { AuditContext } from './tables/audit.ts'
import { type Declarations, declarations as declared, mapDeclarations } from './tables/declarations.ts'
import type { Executor } from './tables/executor.ts'
import { referencesOf } from './tables/references.ts'

/** The models of Prisma's client, without raw SQL and without transactions of its own. */
export type PrismaModels = Omit<PrismaClient, `$${string}` | symbol>

type ClientClass = new (options: { adapter: SqlDriverAdapterFactory }) => PrismaClient

/** Refuses a statement by throwing an error. */
type Check = (sql: string) => void

const NAME = 'resource-database'
// The write has a timeout of its own.
const NO_TIMEOUT_MS = 2 ** 31 - 1

/** Column types by the name that SQLite declares, or by PostgreSQL's number of the type. */
const TYPES: { [type: string]: ColumnType } = {
  INTEGER: ColumnTypeEnum.Int32,
  REAL: ColumnTypeEnum.Double,
  TEXT: ColumnTypeEnum.Text,
  DATETIME: ColumnTypeEnum.DateTime,
  BOOLEAN: ColumnTypeEnum.Boolean,
  16: ColumnTypeEnum.Boolean,
  20: ColumnTypeEnum.Int64,
  23: ColumnTypeEnum.Int32,
  25: ColumnTypeEnum.Text,
  701: ColumnTypeEnum.Double,
  1114: ColumnTypeEnum.DateTime,
  1700: ColumnTypeEnum.Numeric,
}

/**
 * Opens Prisma's client on the statements of this package.
 *
 * @param read for reads outside of transactions
 * @param Client for other models than those of the service, with the declarations of their tables
 */
export async function openPrisma<All>(
  read: Executor,
  Client?: ClientClass,
  declarations: Declarations<All> = declared as Declarations<All>,
) {
  const { isRemote } = read
  const file = `../generated/${isRemote ? 'postgresql/' : ''}client.ts`
  Client ??= (await import(file)).PrismaClient as ClientClass
  const schema = isRemote ? await read.raw({ text: 'SELECT current_schema()::text', values: [] }) : undefined
  const schemaName = schema?.rows[0]?.[0] as string | undefined
  /** The transaction that is being opened. */
  const opening = new AsyncLocalStorage<SqlQueryable>()
  const reads = queryable(read.background ?? read, isRemote, refuseWrite)
  const connection: SqlDriverAdapter = {
    ...reads,
    executeScript: refuseWrite,
    startTransaction: async () => {
      const transaction = opening.getStore() ?? refuseWrite()
      const end = async () => {}
      return { ...transaction, options: { usePhantomQuery: true }, commit: end, rollback: end }
    },
    getConnectionInfo: () => ({ ...(schemaName && { schemaName }), supportsRelationJoins: false }),
    dispose: async () => {},
  }
  const client = new Client({ adapter: { ...reads, connect: async () => connection } })
  // The first query loads most of the client.
  await client.$queryRawUnsafe('SELECT 1')
  return {
    reads: client as PrismaModels,

    /** Opens the models in the transaction of an executor, until `end` is called. */
    transaction: (executor: Executor, audit?: AuditContext) =>
      new Promise<{ models: PrismaModels; end: () => void }>((resolve, reject) => {
        const { promise: ended, resolve: end } = Promise.withResolvers<void>()
        const work = async (models: PrismaModels) => {
          resolve({ models, end })
          await ended
        }
        opening.run(queryable(executor, isRemote, refuseAudited(declarations, audit)), () => {
          client.$transaction(work, { maxWait: NO_TIMEOUT_MS, timeout: NO_TIMEOUT_MS }).catch(reject)
        })
      }),
  }
}

function queryable(executor: Pick<Executor, 'raw'>, isRemote: boolean, check: Check): SqlQueryable {
  const run = async ({ sql, args, argTypes }: SqlQuery) => {
    if (!/^SELECT\b/.test(sql)) check(sql)
    try {
      return await executor.raw({ text: sql, values: args.map((value, index) => argument(value, argTypes[index])) })
    } catch (error) {
      throw error instanceof ForeignKeyFault ? new ReferenceViolation([], { cause: error }) : error
    }
  }
  return {
    provider: isRemote ? 'postgres' : 'sqlite',
    adapterName: NAME,
    queryRaw: async (query) => {
      const { columns, rows } = await run(query)
      const columnTypes = columns.map(({ type }, index) => typeOf(type, rows, index))
      const dates = columnTypes.flatMap((type, index) => (type === ColumnTypeEnum.DateTime ? [index] : []))
      for (const row of rows) for (const index of dates) row[index] = dateText(row[index])
      return { columnNames: columns.map(({ name }) => name), columnTypes, rows }
    },
    executeRaw: async (query) => (await run(query)).count,
  }
}

function refuseWrite(): never {
  throw new Error('Database.read is read-only: use Database.write to write.')
}

/** Refuses changes that the audit log would miss, also those by a cascade. */
function refuseAudited<All>(declarations: Declarations<All>, audit: AuditContext | undefined): Check {
  const names: Record<PropertyKey, string> = mapDeclarations(declarations, ({ name }) => name)
  const references = referencesOf(declarations)
  return (sql) => {
    const [, verb, table] = /^(INSERT|UPDATE|DELETE)\b[^`"]*(?:[`"]\w+[`"]\.)?[`"](\w+)[`"]/.exec(sql) ?? []
    const name = Object.keys(names).find((name) => names[name] === table) as keyof All | undefined
    if (name === undefined) throw new Error(`Prisma's client cannot run this statement: ${sql}`)
    const cascades = verb === 'DELETE' ? references[name].cascadeOrder.map((each) => each.table) : []
    const audited = [name, ...cascades].find((each) => each === 'auditEntries' || audit?.tables[each] !== undefined)
    if (audit === undefined || audited === undefined) return
    throw new Error(
      `Changes of ${String(audited)} belong in the audit log, which Prisma's client does not write: use the table tx.${String(name)} (insert, write).`,
    )
  }
}

function argument(value: unknown, type: ArgType | undefined): unknown {
  if (Array.isArray(value)) return value.map((element) => argument(element, type))
  if (typeof value !== 'string') return value
  if (type?.scalarType === 'datetime') return new Date(value)
  if (type?.scalarType === 'bigint') return BigInt(value)
  return type?.scalarType === 'int' || type?.scalarType === 'float' ? Number(value) : value
}

function typeOf(declared: string | number | null, rows: unknown[][], index: number): ColumnType {
  const known = TYPES[String(declared)]
  if (known !== undefined) return known
  const value = rows.find((row) => row[index] !== null)?.[index]
  return typeof value === 'string' ? ColumnTypeEnum.Text : ColumnTypeEnum.UnknownNumber
}

/** SQLite stores milliseconds; PostgreSQL returns `2026-11-22 20:44:41.12`. */
function dateText(value: unknown): unknown {
  if (typeof value === 'number') return new Date(value).toISOString()
  return typeof value === 'string' ? `${value.replace(' ', 'T')}Z` : value
}
