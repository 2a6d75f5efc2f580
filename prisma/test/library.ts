import { mkdtemp, mkdtempDisposable, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import Sqlite from 'better-sqlite3'
import type { AuditEntry, PrismaClient } from '../generated/client.ts'
import { datamodelOf, type Engine, engines, prismaGenerate } from '../scripts/models.ts'
import { postgresSql } from '../scripts/postgres-sql.ts'
import { noFilters, openSchemaEngine } from '../scripts/schema-engine.ts'
import { declarationsOf } from '../scripts/table-declarations.ts'
import { openPool } from '../src/postgres/pool.ts'
import { PreparedStatements } from '../src/postgres/statements.ts'
import { SqliteConnection } from '../src/sqlite/connection.ts'
import type { AuditContext } from '../src/tables/audit.ts'
import type { Declarations } from '../src/tables/declarations.ts'
import type { Executor } from '../src/tables/executor.ts'
import { withDeadline } from '../src/tables/guarded.ts'
import { sqlTablesOf } from '../src/tables/tables.ts'
import type { ListTable, RecordTable, Table } from '../src/tables/types.ts'
import { emptyDatabase } from './postgres.ts'

/** A schema with features that the service's models do not use. */
const MODELS = `
model Author {
  id      Int       @id @default(autoincrement())
  name    String    @unique
  email   String?   @unique
  active  Boolean
  retired Boolean?
  rating  Float?
  born    DateTime?
  version Int       @default(1)
  books   Book[]    @relation("author")
  edited  Book[]    @relation("editor")
  prizes  Prize[]

  @@index([active, id])
  @@index([name, id])
  @@map("authors")
}

model Book {
  id        Int       @id @default(autoincrement())
  title     String
  author_id Int
  author    Author    @relation("author", fields: [author_id], references: [id])
  editor_id Int?
  editor    Author?   @relation("editor", fields: [editor_id], references: [id], onDelete: Restrict)
  version   Int       @default(1)
  chapters  Chapter[]
  pages     Page[]

  @@map("books")
}

model Chapter {
  id      Int    @id @default(autoincrement())
  book_id Int
  book    Book   @relation(fields: [book_id], references: [id], onDelete: Cascade)
  version Int    @default(1)
  notes   Note[]
  pages   Page[]

  @@map("chapters")
}

model Page {
  id         Int     @id @default(autoincrement())
  book_id    Int
  book       Book    @relation(fields: [book_id], references: [id], onDelete: Cascade)
  chapter_id Int
  chapter    Chapter @relation(fields: [chapter_id], references: [id], onDelete: Cascade)
  version    Int     @default(1)

  @@map("pages")
}

model Note {
  id          Int     @id @default(autoincrement())
  chapter_id  Int?
  chapter     Chapter? @relation(fields: [chapter_id], references: [id], onDelete: Restrict)
  reply_to_id Int?
  reply_to    Note?   @relation("replies", fields: [reply_to_id], references: [id], onDelete: Cascade)
  replies     Note[]  @relation("replies")
  version     Int     @default(1)

  @@map("notes")
}

model Prize {
  author_id Int
  author    Author @relation(fields: [author_id], references: [id], onDelete: Restrict)
  year      Int

  @@id([author_id, year])
  @@map("prizes")
}

model AuditEntry {
  id           Int      @id @default(autoincrement())
  at           DateTime
  actor        String
  actor_detail String?
  procedure    String
  resource     String
  record_id    Int
  before       String?
  after        String?
  request_id   String?
  address      String?

  @@map("audit_entries")
}
`

export interface Author {
  id: number
  name: string
  email: string | null
  active: boolean
  retired: boolean | null
  rating: number | null
  born: Date | null
  version: number
}

interface Book {
  id: number
  title: string
  author_id: number
  editor_id: number | null
  version: number
}

interface Chapter {
  id: number
  book_id: number
  version: number
}

interface Page {
  id: number
  book_id: number
  chapter_id: number
  version: number
}

interface Note {
  id: number
  chapter_id: number | null
  reply_to_id: number | null
  version: number
}

interface Prize {
  author_id: number
  year: number
}

interface LibraryTables {
  authors: RecordTable<Author>
  books: RecordTable<Book>
  chapters: RecordTable<Chapter>
  pages: RecordTable<Page>
  notes: RecordTable<Note>
  prizes: Table<Prize>
  auditEntries: ListTable<AuditEntry>
}

export interface LibraryDatabase extends AsyncDisposable {
  reads: Executor
  read: LibraryTables
  write<T>(work: (tx: LibraryTables, executor: Executor) => Promise<T>, audit?: AuditContext): Promise<T>
}

interface Generated {
  declarations: Declarations<LibraryTables>
  clients: Record<Engine, typeof PrismaClient>
  sql: Record<Engine, string>
}

let generating: Promise<Generated> | undefined

/** The declarations, clients and SQL of the models; generated once. */
export function generatedLibrary(): Promise<Generated> {
  generating ??= generate()
  return generating
}

async function generate(): Promise<Generated> {
  await using temporary = await mkdtempDisposable(join(tmpdir(), 'library-'))
  const folder = temporary.path
  await symlink(fileURLToPath(new URL('../node_modules', import.meta.url)), join(folder, 'node_modules'))
  const models = (engine: Engine) => `
generator client {
  provider            = "prisma-client"
  output              = "./${engine}"
  importFileExtension = "ts"
}
datasource db {
  provider = "${engine}"
}
${MODELS}`
  for (const engine of engines) {
    const schema = join(folder, `${engine}.prisma`)
    await writeFile(schema, models(engine))
    if (prismaGenerate(schema, 'ignore') !== 0) throw new Error(`prisma generate failed for ${engine}`)
  }
  const client = async (engine: Engine) => (await import(join(folder, engine, 'client.ts'))).PrismaClient
  return {
    declarations: declarationsOf(datamodelOf(models('postgresql'))) as object as Declarations<LibraryTables>,
    clients: { sqlite: await client('sqlite'), postgresql: await client('postgresql') },
    sql: {
      sqlite: await sqlOf('sqlite', models('sqlite')),
      postgresql: await sqlOf('postgresql', models('postgresql')),
    },
  }
}

async function sqlOf(engine: Engine, models: string): Promise<string> {
  await using schemaEngine = await openSchemaEngine(
    engine,
    engine === 'sqlite' ? ':memory:' : (await emptyDatabase()).url,
  )
  const { stdout } = await schemaEngine.diff({
    from: { tag: 'empty' },
    to: { tag: 'schemaDatamodel', files: [{ path: 'schema.prisma', content: models }] },
    script: true,
    exitCode: true,
    filters: noFilters,
  })
  return engine === 'sqlite' ? (stdout ?? '') : postgresSql(stdout ?? '', models)
}

/** A new database with the library's tables. */
export async function openLibrary(engine: Engine): Promise<LibraryDatabase> {
  const generated = await generatedLibrary()
  return engine === 'sqlite' ? onSqlite(generated) : onPostgres(generated)
}

async function onSqlite({ declarations, sql }: Generated): Promise<LibraryDatabase> {
  const folder = await mkdtemp(join(tmpdir(), 'library-'))
  const file = join(folder, 'library.db')
  const sqlite = new Sqlite(file)
  sqlite.pragma('journal_mode = WAL')
  sqlite.exec(sql.sqlite)
  sqlite.close()
  const connection = new SqliteConnection(file)
  const tables = sqlTablesOf(declarations)
  const sqlRun = async (text: string) => connection.run({ text, values: [] })
  return {
    reads: connection,
    read: tables(connection),
    write: (work, audit) =>
      inTransaction(sqlRun, connection, (executor) => work(tables(executor, { audit }), executor)),
    [Symbol.asyncDispose]: async () => {
      connection.close()
      await rm(folder, { recursive: true })
    },
  }
}

async function onPostgres({ declarations, sql }: Generated): Promise<LibraryDatabase> {
  const { parsed, rows } = await emptyDatabase()
  await rows(sql.postgresql)
  const pool = openPool(parsed, {})
  const tables = sqlTablesOf(declarations)
  const statements = new PreparedStatements(pool)
  // As for the reads of the service: those by id share statements.
  const reads = Object.assign(statements, { background: statements })
  return {
    reads,
    read: tables(reads),
    write: async (work, audit) => {
      const client = await pool.connect()
      const sqlRun = (text: string) => client.query(text)
      return inTransaction(sqlRun, new PreparedStatements(client), (executor) =>
        work(tables(executor, { audit, locks: true }), executor),
      ).finally(() => client.release())
    },
    [Symbol.asyncDispose]: () => pool.end(),
  }
}

const TIMEOUT_MS = 30_000

async function inTransaction<T>(
  run: (sql: string) => Promise<unknown>,
  executor: Executor,
  work: (executor: Executor) => Promise<T>,
): Promise<T> {
  await run('BEGIN')
  try {
    const result = await withDeadline(executor, TIMEOUT_MS, work)
    await run('COMMIT')
    return result
  } catch (error) {
    await run('ROLLBACK')
    throw error
  }
}
