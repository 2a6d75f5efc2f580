import type { ApiKey, AuditEntry, Book, IdempotencyKey, Item, Prisma, RateShare, User } from '../generated/client.ts'
import type { Columns, ListTable, RecordTable, Table } from './table.ts'

/** Every table there is. */
export interface Tables {
  users: RecordTable<User>
  books: RecordTable<Book>
  items: RecordTable<Item>
  idempotencyKeys: Table<IdempotencyKey>
  apiKeys: RecordTable<ApiKey>
  auditEntries: ListTable<AuditEntry>
  rateShares: RecordTable<RateShare>
}

/** What the engine needs to know of a table. */
export interface Declaration<Row> {
  /** Its name in SQL. */
  name: string
  /** Its model's name on a Prisma client. */
  model: Uncapitalize<Prisma.ModelName>
  key: (keyof Row)[]
  /** A column whose values no two rows share, beside the key. */
  unique?: keyof Row
  columns: Columns<Row>
}

type RowOf<T> = T extends Table<infer Row> ? Row : never

const declarations: { [Name in keyof Tables]: Declaration<RowOf<Tables[Name]>> } = {
  users: {
    name: 'users',
    model: 'user',
    key: ['id'],
    unique: 'email_key',
    columns: {
      id: 'int',
      name: 'text',
      email: 'text',
      email_key: 'text',
      password_hash: 'text?',
      role: 'text',
      status: 'text',
      age: 'int?',
      version: 'int',
      created_at: 'date',
      updated_at: 'date',
    },
  },
  books: {
    name: 'books',
    model: 'book',
    key: ['id'],
    columns: { id: 'int', title: 'text', author: 'text', published_date: 'text', version: 'int' },
  },
  items: {
    name: 'items',
    model: 'item',
    key: ['id'],
    columns: { id: 'int', name: 'text', price: 'float', category: 'text?', version: 'int' },
  },
  idempotencyKeys: {
    name: 'idempotency_keys',
    model: 'idempotencyKey',
    key: ['procedure', 'key'],
    columns: { procedure: 'text', key: 'text', fingerprint: 'text', answer: 'text', created_at: 'date' },
  },
  apiKeys: {
    name: 'api_keys',
    model: 'apiKey',
    key: ['id'],
    unique: 'prefix',
    columns: {
      id: 'int',
      name: 'text',
      role: 'text',
      prefix: 'text',
      hash: 'text',
      version: 'int',
      created_at: 'date',
      expires_at: 'date?',
      revoked_at: 'date?',
      last_used_at: 'date?',
    },
  },
  auditEntries: {
    name: 'audit_entries',
    model: 'auditEntry',
    key: ['id'],
    columns: {
      id: 'bigint',
      at: 'date',
      actor: 'text',
      actor_detail: 'text?',
      procedure: 'text',
      resource: 'text',
      record_id: 'int',
      before: 'text?',
      after: 'text?',
      request_id: 'text?',
      address: 'text?',
    },
  },
  rateShares: {
    name: 'rate_shares',
    model: 'rateShare',
    key: ['id'],
    unique: 'process',
    columns: { id: 'int', process: 'text', minute: 'int', usage: 'text', version: 'int' },
  },
}

/** Something for each table, from its declaration. */
export function mapTables<T>(make: (declaration: AnyDeclaration, name: keyof Tables) => T) {
  const made = {} as Record<keyof Tables, T>
  for (const name of names) made[name] = make(declarations[name], name)
  return made
}

// biome-ignore lint/suspicious/noExplicitAny: each declaration has a row of its own
type AnyDeclaration = Declaration<any>
const names = Object.keys(declarations) as (keyof Tables)[]
