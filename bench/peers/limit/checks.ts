// Hand-written equivalents of the schemas in schemas.ts. Each returns the parsed value, or undefined for invalid input.
import { regexes } from 'zod'
import {
  DEFAULT_LIMIT,
  EMAIL,
  isPassword,
  isText,
  MAX_ID,
  MAX_LIMIT,
  MAX_PRICE,
  MAX_USERS,
  SORTABLE,
} from '../rules.ts'
import type { ItemChanges, NewBook, NewUser } from '../schemas.ts'

/** A parsed list query; `where` contains the filters. */
export interface Query {
  where: Record<string, string | number>
  /** A validated column name, safe to insert into SQL. */
  column: string
  direction: 'asc' | 'desc'
  limit: number
  offset: number
}

type Json = Record<string, unknown>

const columns = new Set<string>(SORTABLE)

export function readId(digits: string): number | undefined {
  return readInteger(digits, 1, MAX_ID)
}

export function readQuery(text: string): Query | undefined {
  const where: Query['where'] = {}
  const seen = new Set<string>()
  let [page, limit, column, direction] = [1, DEFAULT_LIMIT, 'id', 'asc']
  for (const [name, value] of new URLSearchParams(text)) {
    if (seen.has(name)) return undefined
    seen.add(name)
    if (name === 'role' && isRole(value)) where.role = value
    else if (name === 'status' && isStatus(value)) where.status = value
    else if (name === 'age') {
      const age = readInteger(value, 0, 150)
      if (age === undefined) return undefined
      where.age = age
    } else if (name === 'page' || name === 'limit') {
      const number = readInteger(value, 1, Number.MAX_SAFE_INTEGER)
      if (number === undefined) return undefined
      if (name === 'page') page = number
      else limit = Math.min(number, MAX_LIMIT)
    } else if (name === 'sort') {
      const split = value.lastIndexOf('_')
      column = value.slice(0, split)
      direction = value.slice(split + 1)
      if (!columns.has(column) || (direction !== 'asc' && direction !== 'desc')) return undefined
    } else return undefined
  }
  return { where, column, direction: direction as 'asc', limit, offset: (page - 1) * limit }
}

export function checkBook(body: unknown): NewBook | undefined {
  if (!isObject(body)) return undefined
  const title = readText(body.title, 200)
  const author = readText(body.author, 200)
  const date = body.published_date
  if (title === undefined || author === undefined || typeof date !== 'string' || !regexes.date.test(date)) {
    return undefined
  }
  return { title, author, published_date: date }
}

export function checkItem(body: unknown): ItemChanges | undefined {
  if (!isObject(body)) return undefined
  const changes: ItemChanges = {}
  if (body.name !== undefined) {
    const name = readText(body.name, 200)
    if (name === undefined) return undefined
    changes.name = name
  }
  if (body.price !== undefined) {
    if (typeof body.price !== 'number' || body.price < 0 || body.price > MAX_PRICE) return undefined
    changes.price = body.price
  }
  if (body.category !== undefined) {
    const category = body.category === null ? null : readText(body.category, 100)
    if (category === undefined) return undefined
    changes.category = category
  }
  const { name, price, category } = changes
  return name === undefined && price === undefined && category === undefined ? undefined : changes
}

export function checkUsers(body: unknown): NewUser[] | undefined {
  if (!Array.isArray(body) || body.length === 0 || body.length > MAX_USERS) return undefined
  const users: NewUser[] = []
  for (const given of body) {
    const user = checkUser(given)
    if (user === undefined) return undefined
    users.push(user)
  }
  return users
}

function checkUser(body: unknown): NewUser | undefined {
  if (!isObject(body)) return undefined
  const { email, password, role = 'user', status = 'active', age = null } = body
  const name = readText(body.name, 200)
  if (name === undefined || typeof email !== 'string' || email.length > 254 || !EMAIL.test(email)) return undefined
  if (password !== undefined && (typeof password !== 'string' || !isPassword(password))) return undefined
  if (!isRole(role) || !isStatus(status)) return undefined
  if (age !== null && (!Number.isInteger(age) || (age as number) < 0 || (age as number) > 150)) return undefined
  return { name, email, password, role, status, age: age as number | null }
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isRole(value: unknown): value is NewUser['role'] {
  return value === 'admin' || value === 'user'
}

function isStatus(value: unknown): value is NewUser['status'] {
  return value === 'active' || value === 'inactive'
}

function readText(value: unknown, max: number): string | undefined {
  if (typeof value !== 'string') return undefined
  const trimmed = value.trim()
  return isText(trimmed, max) ? trimmed : undefined
}

function readInteger(digits: string, min: number, max: number): number | undefined {
  if (!/^\d+$/.test(digits)) return undefined
  const number = Number(digits)
  return number < min || number > max ? undefined : number
}
