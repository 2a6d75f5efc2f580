// Request and response schemas of the peers that validate with zod.
import { z } from 'zod'
import { DEFAULT_LIMIT, EMAIL, isPassword, isText, MAX_ID, MAX_LIMIT, MAX_PRICE, MAX_USERS, SORTABLE } from './rules.ts'

const text = (max: number) =>
  z
    .string()
    .trim()
    .refine((value) => isText(value, max))

const role = z.enum(['admin', 'user'])
const status = z.enum(['active', 'inactive'])
const age = z.int().min(0).max(150)
const sort = z.enum(SORTABLE.flatMap((name) => [`${name}_asc`, `${name}_desc`] as const))

export const id = z.int().min(1).max(MAX_ID)

const list = { role: role.optional(), status: status.optional(), sort: sort.default('id_asc') }
const page = z.int().min(1)
const limit = page.transform((limit) => Math.min(limit, MAX_LIMIT))

/** List input for peers that convert text to numbers before validation. */
export const listInput = z.strictObject({
  ...list,
  age: age.optional(),
  page: page.default(1),
  limit: limit.prefault(DEFAULT_LIMIT),
})

const digits = z.string().regex(/^\d+$/).transform(Number)

/** The same for paths and query strings, where all values are text. */
export const idText = digits.pipe(id)
export const listQuery = z.strictObject({
  ...list,
  age: digits.pipe(age).optional(),
  page: digits.pipe(page).prefault('1'),
  limit: digits.pipe(limit).prefault(String(DEFAULT_LIMIT)),
})

export const newBook = z.object({ title: text(200), author: text(200), published_date: z.iso.date() })

const itemFields = z
  .object({ name: text(200), price: z.number().min(0).max(MAX_PRICE), category: text(100).nullable() })
  .partial()
const hasChanges = (changes: z.output<typeof itemFields>) =>
  changes.name !== undefined || changes.price !== undefined || changes.category !== undefined
export const itemChanges = itemFields.refine(hasChanges)
export const itemUpdate = itemFields.extend({ item_id: id }).refine(hasChanges)

const newUser = z.object({
  name: text(200),
  email: z.email({ pattern: EMAIL }).max(254),
  password: z.string().refine(isPassword).optional(),
  role: role.default('user'),
  status: status.default('active'),
  age: age.nullable().default(null),
})
export const newUsers = z.array(newUser).min(1).max(MAX_USERS)

export const fullUser = z.object({
  id: z.int(),
  name: z.string(),
  email: z.string(),
  role: z.string(),
  status: z.string(),
  age: z.int().nullable(),
  created_at: z.string(),
  updated_at: z.string(),
  version: z.int(),
})
export const userDetail = fullUser.pick({ id: true, name: true, email: true, role: true, created_at: true })
export const userSummary = fullUser.pick({ id: true, name: true, email: true, role: true })
export const book = z.object({ id: z.int(), title: z.string(), author: z.string(), published_date: z.string() })
export const item = z.object({ id: z.int(), name: z.string(), price: z.number(), category: z.string().nullable() })

export type ListQuery = z.output<typeof listInput>
export type NewBook = z.output<typeof newBook>
export type ItemChanges = z.output<typeof itemChanges>
export type NewUser = z.output<typeof newUser>
export type FullUser = z.output<typeof fullUser>
export type UserDetail = z.output<typeof userDetail>
export type UserSummary = z.output<typeof userSummary>
export type Book = z.output<typeof book>
export type Item = z.output<typeof item>
