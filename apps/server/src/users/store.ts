import type { Input, Output } from '@resource/contract'
import { type Change, type Changes, type Tables, UniqueViolation, type User } from '@resource/database'
import { Problem } from '@resource/openapi'
import { columnsOf, readPage } from '../store/page.ts'
import { timestamp } from '../store/timestamp.ts'
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

const sortable = {
  id: 'id',
  name: 'name',
  username: 'name',
  email: 'email',
  role: 'role',
  status: 'status',
  age: 'age',
  created_at: 'created_at',
  updated_at: 'updated_at',
} as const

/** @param shown the fields that will be looked at; all when absent */
export async function listUsers(
  db: Tables,
  { role, status, age, ...page }: Input<'users', 'list'>,
  shown?: readonly string[],
) {
  const { rows, facts } = await readPage(db.users, { role, status, age }, sortable, page, shown)
  return { users: rows.map(present), ...facts }
}

/**
 * @param shown the fields that will be looked at; all when absent
 * @throws Problem 404
 */
export async function findUser(db: Tables, id: number, shown?: readonly string[]): Promise<UserRecord> {
  const row = await db.users.find({ id }, shown && columnsOf(shown, db.users))
  if (row === undefined) throw notFound('User')
  return present(row)
}

/** @throws Problem 409 when the e-mail address is taken */
export async function insertUser(tx: Tables, user: NewUser): Promise<UserRecord> {
  return present(await tx.users.insert(stored(user, new Date())).catch(taken))
}

/**
 * Stores all users or none.
 *
 * @returns the records in the order given
 * @throws Problem 409 that names the first whose e-mail address is taken
 */
export async function insertUsers(tx: Tables, users: NewUser[]): Promise<UserRecord[]> {
  const now = new Date()
  const data = users.map((user) => stored(user, now))
  return (await tx.users.insertMany(data).catch(oneTaken)).map(present)
}

/**
 * @param check as of `updateVersioned`
 * @throws Problem 404, 409 or 412
 */
export async function updateUser(
  tx: Tables,
  id: number,
  ifVersion: IfVersion,
  changes: Changes<NewUser>,
  check?: (change: Change<User>) => void,
): Promise<UserRecord> {
  const { email } = changes
  const data = {
    ...changes,
    email_key: email === undefined ? undefined : emailKey(email),
    updated_at: new Date(),
  }
  return present(await updateVersioned(tx.users, 'User', id, ifVersion, data, check).catch(taken))
}

/** @throws Problem 404 or 412 */
export async function deleteUser(tx: Tables, id: number, ifVersion: IfVersion): Promise<void> {
  await deleteVersioned(tx.users, 'User', id, ifVersion)
}

/** @returns how many were removed */
export async function deleteUsersByStatus(tx: Tables, status: string): Promise<number> {
  return tx.users.deleteAll({ status })
}

function stored(user: NewUser, now: Date) {
  return { ...user, email_key: emailKey(user.email), created_at: now, updated_at: now }
}

// Names every field that leaves the store; the password's hash does not. Of what is read, `row` has what is shown.
function present(row: User): UserRecord {
  return {
    id: row.id,
    name: row.name,
    email: row.email,
    role: row.role as UserRecord['role'],
    status: row.status as UserRecord['status'],
    age: row.age,
    created_at: row.created_at && timestamp(row.created_at),
    updated_at: row.updated_at && timestamp(row.updated_at),
    version: row.version,
  }
}

function emailKey(email: string): string {
  return email.toLowerCase()
}

function taken(error: unknown): never {
  throw isTaken(error) ? emailTaken('email') : error
}

function oneTaken(error: unknown): never {
  throw isTaken(error) ? emailTaken(`[${error.index}].email`) : error
}

function isTaken(error: unknown): error is UniqueViolation {
  return error instanceof UniqueViolation && error.columns.includes('email_key')
}

function emailTaken(field: string): Problem {
  const message = 'already in use by another user'
  return new Problem(409, `${field}: ${message}`, { fields: [{ field, message }] })
}
