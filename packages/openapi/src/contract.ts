// biome-ignore-all lint/suspicious/noExplicitAny: in these places a type stands for every procedure, whatever it takes
import type { TRPCBuiltRouter, TRPCDefaultErrorShape, TRPCMutationProcedure, TRPCQueryProcedure } from '@trpc/server'
import type { OpenApiMeta } from 'trpc-openapi'
import type { z } from 'zod'
import type { Fault } from './api-error.ts'

// A contract is plain data: what each procedure takes and gives, and where it stands on the REST surface. Nothing here
// runs on a server, so that a browser may import it.

type OperationFacts = Pick<
  NonNullable<OpenApiMeta['openapi']>,
  'method' | 'path' | 'operationId' | 'summary' | 'description' | 'successDescription' | 'deprecated'
>

/** What a header's `value` is computed from. */
export interface Exchange<Input = any, Output = any> {
  /** Valid, and as the caller sent it: defaults and transforms are not applied. */
  input: Input
  /** As the implementation gave it. */
  output: Output
  /** The request's path as sent, with the one that the handler is mounted at, without the query string. */
  path: string
  /** The request's query parameters, decoded, in the order sent. */
  query: readonly (readonly [name: string, value: string])[]
}

/** A response header that a procedure chooses. */
export interface ResponseHeader<Input = any, Output = any> {
  description: string
  schema?: z.ZodType
  /** `undefined` leaves the header out. */
  value: (exchange: Exchange<Input, Output>) => string | undefined
}

/** How errors look at a binding. */
export interface ErrorForm {
  schema: z.ZodType
  /** Its schema where the error carries data, for a form that shows them. */
  withData?: (data: z.ZodType) => z.ZodType
  body: (fault: Fault) => unknown
}

/** How an answer looks when the caller asks for the standard envelope (`?envelope=true`), success and error alike. */
export interface EnvelopeForm {
  /** @param facts the schemas of what `success` is given as facts */
  schema: (data: z.ZodType, facts: Record<string, z.ZodType>) => z.ZodType
  /** @param facts what the answer says beside its data: the page facts of a list */
  success: (data: Record<string, unknown>, facts: Record<string, unknown>) => unknown
  error: ErrorForm
}

/**
 * One binding of a procedure: trpc-openapi's `meta.openapi`, extended in the vocabulary of google.api.http (`body`,
 * `responseBody`, `additionalBindings`).
 */
export interface Binding<Input = any, Output = any> extends OperationFacts {
  /** The document's tag for this binding; the resource's when absent. */
  tag?: Tag
  /** Path parameters that carry another name than their input field: `{ user_id: 'id' }`. */
  params?: Record<string, string>
  /** Request headers read into input fields: `{ 'Idempotency-Key': 'idempotency_key' }`. */
  headerParams?: Record<string, string>
  /** Other keys a request body may use for an input field: `{ username: 'name' }`. */
  aliases?: Record<string, string>
  /** Required input fields that may be left out at this binding; the implementation then gets `undefined` for them. */
  optional?: readonly string[]
  /** Status of a body of another media type than JSON; 415 when absent. With 400 it counts as no body at all. */
  otherMediaType?: 400 | 415
  /** The input field that is the whole body; without it, the body carries every field bound to nothing else. */
  body?: string
  /** The output field that is the whole answer; the other fields then stand in the envelope's `meta`. */
  responseBody?: string
  /** Its parse is the projection of the answer at this binding. The procedure's output schema when absent. */
  response?: z.ZodType
  /** 200 when absent. A 204 has no body, and no `response`. */
  status?: 200 | 201 | 204
  /** Key of the answer in the envelope's `data`; without it, the answer is `data` itself. */
  envelope?: string
  /** `significant`: this path and the one with the other ending are different bindings. `optional` when absent. */
  trailingSlash?: 'significant' | 'optional'
  /** The output field that holds the record's version; the answer then carries an `ETag`. */
  etag?: string
  /** The input field that takes the version or versions named by `If-Match`. */
  ifMatch?: string
  /** Response headers by name. A `Location` that begins with `/` is relative to the path that the handler is mounted at. */
  headers?: Record<string, ResponseHeader<Input, Output>>
  /** Largest request body in bytes; 1 MiB when absent. */
  bodyLimit?: number
}

/** A procedure's first binding; the additional ones inherit from it what they do not say themselves. */
export interface RestMeta<Input = any, Output = any> extends Binding<Input, Output> {
  additionalBindings?: (Partial<Binding<Input, Output>> & { path: `/${string}`; operationId: string })[]
}

/** What a caller may do; each role includes those before it. */
export const ROLES = ['reader', 'writer', 'admin'] as const

export type Role = (typeof ROLES)[number]

/** By status, the schema of the data that an error carries beside its words. */
export type ErrorData = Readonly<Record<number, z.ZodType>>

/** Whatever the errors of a procedure carry, to match it by: to compare two such types costs the compiler much. */
export type AnyErrorData = any

export interface Procedure<
  Type extends 'query' | 'mutation' = 'query' | 'mutation',
  Input extends z.ZodType = z.ZodType,
  Output extends z.ZodType = z.ZodType,
  Data extends ErrorData = ErrorData,
> {
  type: Type
  /** The role a caller needs. */
  access: Role
  input: Input
  output: Output
  /** Statuses its implementation may answer with, beside those the adapter knows of (400, 401, 403, 406, 412, 413, 415, 500). */
  errors?: number[]
  /** What its errors of a status carry: a caller gets this and nothing else of a `ApiError`'s `data`. */
  errorData?: Data
  meta: { openapi: RestMeta<z.input<Input>, z.input<Output>> }
}

type Definition<Input extends z.ZodType, Output extends z.ZodType, Data extends ErrorData> = Omit<
  Procedure<any, Input, Output, Data>,
  'type' | 'access'
> & { access?: Role }

/** A procedure that changes nothing, for readers where it does not say otherwise. */
export function query<Input extends z.ZodType, Output extends z.ZodType, Data extends ErrorData = ErrorData>(
  definition: Definition<Input, Output, Data>,
): Procedure<'query', Input, Output, Data> {
  return { type: 'query', access: 'reader', ...definition }
}

/** A procedure that writes, for writers where it does not say otherwise. */
export function mutation<Input extends z.ZodType, Output extends z.ZodType, Data extends ErrorData = ErrorData>(
  definition: Definition<Input, Output, Data>,
): Procedure<'mutation', Input, Output, Data> {
  return { type: 'mutation', access: 'writer', ...definition }
}

export type Procedures = Record<string, Procedure<any, any, any, any>>

/** A group of operations in the document. */
export interface Tag {
  name: string
  description: string
}

/** A noun: its procedures and what they share in the document and in their errors. */
export interface Resource<P extends Procedures = Procedures> {
  tag: string
  description: string
  errorForm: ErrorForm
  /**
   * The query that finds a record by its id, and answers 404 where none is stored. A write that names such a record and
   * is invalid gets this 404 rather than its 400.
   */
  lookup?: keyof P & string
  procedures: P
}

/** Gives the resource back; it is there for the types. */
export function resource<P extends Procedures>(definition: Resource<P>): Resource<P> {
  return definition
}

export type Contract = Record<string, Resource<any>>

/** Over tRPC an error also says which fields were wrong, and its data. */
export type ErrorShape = TRPCDefaultErrorShape & { data: { fields: Fault['fields']; errorData?: unknown } }

// biome-ignore lint/suspicious/noConfusingVoidType: by `void` TypeScript knows that an argument may be left out
type Omittable<T> = T | void

/** What a caller sends; nothing at all where no field is required. */
type InputOf<Input extends z.ZodType> = object extends z.input<Input> ? Omittable<z.input<Input>> : z.input<Input>

type RouterProcedure<P> =
  P extends Procedure<infer Type, infer Input, infer Output, AnyErrorData>
    ? Type extends 'query'
      ? TRPCQueryProcedure<{ input: InputOf<Input>; output: z.output<Output>; meta: unknown }>
      : TRPCMutationProcedure<{ input: InputOf<Input>; output: z.output<Output>; meta: unknown }>
    : never

/** The router type that a tRPC client takes, from the contract alone. */
export type RouterOf<C extends Contract> = TRPCBuiltRouter<
  { ctx: object; meta: object; errorShape: ErrorShape; transformer: false },
  { [R in keyof C]: { [P in keyof C[R]['procedures']]: RouterProcedure<C[R]['procedures'][P]> } }
>

/** The function of a procedure, from parsed input and context to output. */
// `shown` names the fields of the record, or of each of a list, that the caller will look at: it need not give others.
export type Run<Input, Context, Output> = (input: Input, context: Context, shown?: readonly string[]) => Promise<Output>

/**
 * Stands around the function of a procedure, with input that is valid: gives what `next` gives, or something else, or
 * throws. `next` takes another input or context where it is given one.
 */
export type Middleware<Input = any, Context = any, Output = any> = (
  input: Input,
  context: Context,
  next: (input?: Input, context?: Context) => Promise<Output>,
) => Promise<Output>

/** What a server must give for a contract: for each procedure its function, alone or behind its middlewares. */
export type Implementation<C extends Contract, Context, MutationContext extends Context = Context> = {
  [R in keyof C]: {
    [P in keyof C[R]['procedures']]: C[R]['procedures'][P] extends Procedure<
      infer Type,
      infer Input,
      infer Output,
      AnyErrorData
    >
      ? Implemented<z.output<Input>, Type extends 'query' ? Context : MutationContext, z.input<Output>>
      : never
  }
}

type Implemented<Input, Context, Output> =
  | Run<Input, Context, Output>
  | readonly [...Middleware<Input, Context, Output>[], Run<Input, Context, Output>]
