import type { Implementation as ImplementationOf, RouterOf } from '@resource/openapi/contract'
import type { z } from 'zod'
import { audit } from './audit.ts'
import { written } from './written.ts'

/** Every procedure of the service: the map of its API. */
export const contract = { ...written, audit }

/** What the service keeps, in words: `Users, books and items`. */
export const API_SUBJECT = Object.entries(contract)
  .flatMap(([noun, resource]) => ('collection' in resource ? [noun] : []))
  .join(', ')
  .replace(/, ([^,]*)$/, ' and $1')
  .replace(/^./, (letter) => letter.toUpperCase())

export type Contract = typeof contract

/** The nouns whose records can be written; those of the others are only read. */
export type WrittenNoun = keyof typeof written

/** What tRPC clients are typed by. */
export type AppRouter = RouterOf<Contract>

/** What a server implements. */
export type Implementation<Context, MutationContext extends Context = Context> = ImplementationOf<
  Contract,
  Context,
  MutationContext
>

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
export type { CollectionFacts } from './collection.ts'
export { API_TITLE, API_VERSION, envelope } from './errors.ts'
export { FIELD_ROLE, KNOWN_VALUES, VALUE_ROLES } from './fields.ts'
export { type FilterFacts, readFilter } from './filters.ts'
export { written } from './written.ts'
