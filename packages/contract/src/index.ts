import type { Implementation as ImplementationOf, RouterOf } from '@resource/openapi/contract'
import type { z } from 'zod'
import { audit } from './audit.ts'
import { changes } from './changes.ts'
import { previews } from './previews.ts'
import { proposals } from './proposals.ts'
import { reversals } from './reversals.ts'
import { and, upper } from './words.ts'
import { audited, type writable } from './writable.ts'

/** The complete contract of the service: each resource with its procedures. */
export const contract = { ...audited, audit, changes, previews, proposals, reversals }

const collections = Object.entries(contract).flatMap(([noun, resource]) => ('collection' in resource ? [noun] : []))

/** The collections of the service as text: `Users, books and items`. */
export const API_SUBJECT = upper(and(collections))

export type Contract = typeof contract

/** The nouns of the resources whose records can be created. */
export type WritableNoun = keyof typeof writable

/** The router type for tRPC clients. */
export type AppRouter = RouterOf<Contract>

/** The type of a server's implementation of the contract. */
export type Implementation<Context, MutationContext extends Context = Context> = ImplementationOf<
  Contract,
  Context,
  MutationContext
>

/** The parsed input of a procedure: `Input<'users', 'create'>`. */
export type Input<R extends keyof Contract, P extends keyof Contract[R]['procedures']> = z.output<
  SchemaOf<Contract[R]['procedures'][P], 'input'>
>

/** The output of a procedure: `Output<'users', 'get'>`. */
export type Output<R extends keyof Contract, P extends keyof Contract[R]['procedures']> = z.output<
  SchemaOf<Contract[R]['procedures'][P], 'output'>
>

type SchemaOf<P, K extends 'input' | 'output'> = P extends Record<K, infer S extends z.ZodType> ? S : never

export { grouped } from '@resource/openapi/contract'
export { type Calculation, calculated } from './calculated.ts'
export type { CollectionFacts } from './declaration.ts'
export { API_TITLE, API_VERSION, envelope } from './errors.ts'
export { decimalsOf, KNOWN_VALUES, MAX_BODY_BYTES, type ReadOnly, requestGroup } from './fields.ts'
export { type FilterFacts, readFilter } from './filters.ts'
export { MAX_MATCHING, MAX_PREVIEWED } from './matching.ts'
export { MAX_SKIPPED } from './pages.ts'
export { FIELD_ROLE, ROLES, type Role, VALUE_ROLES } from './roles.ts'
export { refusedTransition } from './transitions.ts'
export { audited, impersonal, writable } from './writable.ts'
