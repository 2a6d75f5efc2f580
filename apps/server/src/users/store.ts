import type { Input, Output } from '@resource/contract'
import { type PrismaClient, type Transaction, type User, uniqueViolation } from '@resource/database'
import { Problem } from '@resource/openapi'
import { defined } from '../store/defined.ts'
import { readPage, type SortColumn } from '../store/page.ts'
import { deleteVersioned, type IfVersion, notFound, updateVersioned } from '../store/versioned.ts'

export type UserRecord = Output<'users', 'get'>

/** A user about to be stored; `password_hash` as `hashPassword` gives it. */
export interface NewUser {
  name: string
  email: string
  password_hash: string | null
  role: string
  status: string
  age: number | null
}

const columns: Record<string, SortColumn> = {
  id: { column: 'id', kind: 'int' },
  name: { column: 'name', kind: 'text' },
  username: { column: 'name', kind: 'text' },
  email: { column: 'email', kind: 'text' },
  role: { column: 'role', kind: 'text' },
  status: { column: 'status', kind: 'text' },
  age: { column: 'age', kind: 'int?' },
  created_at: { column: 'created_at', kind: 'date' },
  updated_at: { column: 'updated_at', kind: 'date' },
}

export async function listUsers(db: PrismaClient, { role, status, age, ...page }: Input<'users', 'list'>) {
  const where = defined({ role, status, age })
  const { rows, facts } = await readPage<User>(db.user, where, columns, page)
  return { users: rows.map(present), ...facts }
}

/** @throws Problem 404 */
export async function findUser(db: PrismaClient, id: number): Promise<UserRecord> {
  const row = await db.user.findUnique({ where: { id } })
  if (row === null) throw notFound('User')
  return present(row)
}

/** @throws Problem 409 when the e-mail address is taken */
export async function insertUser(tx: Transaction, user: NewUser): Promise<UserRecord> {
  return present(await tx.user.create({ data: stored(user, new Date()) }).catch(taken))
}

/**
 * Stores all users or none.
 *
 * @returns the records in the order given
 * @throws Problem 409 that names the first whose e-mail address is taken
 */
export async function insertUsers(tx: Transaction, users: NewUser[]): Promise<UserRecord[]> {
  const now = new Date()
  const data = users.map((user) => stored(user, now))
  const known = await tx.user.findMany({
    where: { email_key: { in: data.map(({ email_key }) => email_key) } },
    select: { email_key: true },
  })
  const seen = new Set(known.map(({ email_key }) => email_key))
  for (const [index, { email_key }] of data.entries()) {
    if (seen.has(email_key)) throw emailTaken(`[${index}].email`)
    seen.add(email_key)
  }
  const rows = await tx.user.createManyAndReturn({ data }).catch(taken)
  const byEmail = new Map(rows.map((row) => [row.email_key, row]))
  return data.map(({ email_key }) => present(byEmail.get(email_key) as User))
}

/** @throws Problem 404, 409 or 412 */
export async function updateUser(
  tx: Transaction,
  id: number,
  ifVersion: IfVersion,
  changes: { [F in keyof NewUser]?: NewUser[F] | undefined },
): Promise<UserRecord> {
  const { email } = changes
  const data = {
    ...defined(changes),
    ...(email !== undefined && { email_key: emailKey(email) }),
    updated_at: new Date(),
  }
  return present(await updateVersioned<User>(tx.user, 'User', id, ifVersion, data).catch(taken))
}

/** @throws Problem 404 or 412 */
export async function deleteUser(tx: Transaction, id: number, ifVersion: IfVersion): Promise<void> {
  await deleteVersioned(tx.user, 'User', id, ifVersion)
}

/** @returns how many were removed */
export async function deleteUsersByStatus(tx: Transaction, status: string): Promise<number> {
  return (await tx.user.deleteMany({ where: { status } })).count
}

function stored(user: NewUser, now: Date) {
  return { ...user, email_key: emailKey(user.email), created_at: now, updated_at: now }
}

// Names every field that leaves the store; the password's hash does not.
function present(row: User): UserRecord {
  return {
    id: row.id,
    name: row.name,
    email: row.email,
    role: row.role as UserRecord['role'],
    status: row.status as UserRecord['status'],
    age: row.age,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    version: row.version,
  }
}

function emailKey(email: string): string {
  return email.toLowerCase()
}

function taken(error: unknown): never {
  throw uniqueViolation(error)?.includes('email_key') ? emailTaken('email') : error
}

function emailTaken(field: string): Problem {
  const message = 'already in use by another user'
  return new Problem(409, `${field}: ${message}`, { fields: [{ field, message }] })
}
