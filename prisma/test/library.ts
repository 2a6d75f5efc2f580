import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PrismaPg } from '@prisma/adapter-pg'
import Sqlite from 'better-sqlite3'
import type { AuditEntry, PrismaClient } from '../generated/client.ts'
import { type Engine, engines, tablesGenerator } from '../scripts/models.ts'
import { postgresSql } from '../scripts/postgres-sql.ts'
import { prismaGenerate } from '../scripts/prisma-generate.ts'
import { noFilters, openSchemaEngine } from '../scripts/schema-engine.ts'
import type { AuditContext } from '../src/audit.ts'
import { connect } from '../src/connection.ts'
import { withDeadline } from '../src/guarded.ts'
import { openPool } from '../src/postgres/pool.ts'
import { PreparedStatements } from '../src/postgres/prepared-statements.ts'
import { prismaPostgres } from '../src/postgres/prisma.ts'
import { prismaSqlite } from '../src/prisma-database.ts'
import { fromPrisma } from '../src/prisma-error.ts'
import { type Executor, sqlTablesOf } from '../src/sql-table.ts'
import { SqliteConnection } from '../src/sqlite-connection.ts'
import type { ListTable, RecordTable, Table } from '../src/table.ts'
import type { Declarations } from '../src/tables.ts'
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
  read: LibraryTables
  write<T>(work: (tx: LibraryTables) => Promise<T>, audit?: AuditContext): Promise<T>
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
  const folder = await mkdtemp(join(tmpdir(), 'library-'))
  try {
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
      await writeFile(schema, models(engine) + (engine === 'postgresql' ? tablesGenerator('./tables.ts') : ''))
      if (prismaGenerate(schema, 'ignore') !== 0) throw new Error(`prisma generate failed for ${engine}`)
    }
    const client = async (engine: Engine) => (await import(join(folder, engine, 'client.ts'))).PrismaClient
    // Parsed, not imported: the modules of its type imports do not exist.
    const source = await readFile(join(folder, 'tables.ts'), 'utf8')
    const declarations = [...source.matchAll(/^ {2}(\w+): (\{.*\}),$/gm)]
    return {
      declarations: Object.fromEntries(declarations.map(([, key, json]) => [key, JSON.parse(json as string)])),
      clients: { sqlite: await client('sqlite'), postgresql: await client('postgresql') },
      sql: {
        sqlite: await sqlOf('sqlite', models('sqlite')),
        postgresql: await sqlOf('postgresql', models('postgresql')),
      },
    }
  } finally {
    await rm(folder, { recursive: true })
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

/** A new database with the library's tables, opened with one of the service's drivers. */
export async function openLibrary(engine: Engine, driver: 'prepared' | 'prisma'): Promise<LibraryDatabase> {
  const generated = await generatedLibrary()
  return engine === 'sqlite' ? onSqlite(generated, driver) : onPostgres(generated, driver)
}

async function onSqlite({ declarations, clients, sql }: Generated, driver: string): Promise<LibraryDatabase> {
  const folder = await mkdtemp(join(tmpdir(), 'library-'))
  const file = join(folder, 'library.db')
  const sqlite = new Sqlite(file)
  sqlite.pragma('journal_mode = WAL')
  sqlite.exec(sql.sqlite)
  sqlite.close()
  const remove = () => rm(folder, { recursive: true })
  if (driver === 'prisma') {
    const client = connect(file, { Client: clients.sqlite })
    return {
      ...throughPrisma(declarations, client, prismaSqlite),
      [Symbol.asyncDispose]: () => client.$disconnect().then(remove),
    }
  }
  const connection = new SqliteConnection(file)
  const tables = sqlTablesOf(declarations)
  const sqlRun = async (text: string) => connection.run({ text, values: [] })
  return {
    read: tables(connection),
    write: (work, audit) => inTransaction(sqlRun, connection, (executor) => work(tables(executor, { audit }))),
    [Symbol.asyncDispose]: async () => {
      connection.close()
      await remove()
    },
  }
}

async function onPostgres({ declarations, clients, sql }: Generated, driver: string): Promise<LibraryDatabase> {
  const { parsed, rows } = await emptyDatabase()
  await rows(sql.postgresql)
  const pool = openPool(parsed, {})
  if (driver === 'prisma') {
    const client = new clients.postgresql({ adapter: new PrismaPg(pool) })
    const end = () => client.$disconnect().then(() => pool.end())
    return { ...throughPrisma(declarations, client, prismaPostgres), [Symbol.asyncDispose]: end }
  }
  const tables = sqlTablesOf(declarations)
  return {
    read: tables(new PreparedStatements(pool)),
    write: async (work, audit) => {
      const client = await pool.connect()
      const sqlRun = (text: string) => client.query(text)
      return inTransaction(sqlRun, new PreparedStatements(client), (executor) =>
        work(tables(executor, { audit })),
      ).finally(() => client.release())
    },
    [Symbol.asyncDispose]: () => pool.end(),
  }
}

function throughPrisma(
  declarations: Declarations<LibraryTables>,
  client: PrismaClient,
  executorOf: (client: object) => Executor,
) {
  const tables = sqlTablesOf(declarations)
  return {
    read: tables(executorOf(client)),
    write: <T>(work: (tx: LibraryTables) => Promise<T>, audit?: AuditContext): Promise<T> =>
      client
        .$transaction((tx) => work(tables(executorOf(tx), { audit })))
        .catch((error: unknown) => {
          throw fromPrisma(error)
        }),
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
