import type { Implementation as ImplementationOf, RouterOf } from '@resource/openapi/contract'
import type { z } from 'zod'
import { audit } from './audit.ts'
import { books } from './books.ts'
import { items } from './items.ts'
import { keys } from './keys.ts'
import { users } from './users.ts'

/** Every procedure of the service: the map of its API. */
export const contract = { users, books, items, keys, audit }

export type Contract = typeof contract

/** The nouns whose records can be written; those of the others are only read. */
export type WrittenNoun = {
  [R in keyof Contract]: Extract<Values<Contract[R]['procedures']>, { type: 'mutation' }> extends never ? never : R
}[keyof Contract]

type Values<T> = T[keyof T]

/** What tRPC clients are typed by. */
export type AppRouter = RouterOf<Contract>

/** What a server implements. */
export type Implementation<Context> = ImplementationOf<Contract, Context>

/** What a procedure takes after parsing: `Input<'users', 'create'>`. */
export type Input<R extends keyof Contract, P extends keyof Contract[R]['procedures']> = z.output<
  SchemaOf<Contract[R]['procedures'][P], 'input'>
>

/** What a procedure gives: `Output<'users', 'get'>`. */
export type Output<R extends keyof Contract, P extends keyof Contract[R]['procedures']> = z.output<
  SchemaOf<Contract[R]['procedures'][P], 'output'>
>

type SchemaOf<P, K extends 'input' | 'output'> = P extends Record<K, infer S extends z.ZodType> ? S : never

export { ROLES, type Role } from '@resource/openapi/contract'
export { API_TITLE, API_VERSION, envelope } from './errors.ts'
export { FIELD_ROLE, KNOWN_VALUES, VALUE_ROLES } from './fields.ts'
