// biome-ignore-all lint/suspicious/noExplicitAny: these types match every procedure, whatever its input
import type { TRPCBuiltRouter, TRPCDefaultErrorShape, TRPCMutationProcedure, TRPCQueryProcedure } from '@trpc/server'
import type { z } from 'zod'
import type { Fault } from './api-error.ts'

export { and, grouped, or } from './words.ts'

// A contract is plain data: the inputs, outputs and REST bindings of its procedures. This file contains no server code,
// so browsers can import it.

/** As in trpc-openapi's `meta.openapi`. */
interface OperationFacts {
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  path: `/${string}`
  operationId?: string
  summary?: string
  description?: string
  successDescription?: string
  deprecated?: boolean
}

/** The argument of a response header's `value` function. */
export interface Exchange<Input = any, Output = any> {
  /** The valid input as sent, before defaults and transforms. */
  input: Input
  /** The output as the implementation returned it. */
  output: Output
  /** The path of the request as sent, including the mount path, without the query string. */
  path: string
  /** The decoded query parameters, in the order sent. */
  query: readonly (readonly [name: string, value: string])[]
}

/** A response header that a binding computes. */
export interface ResponseHeader<Input = any, Output = any> {
  description: string
  schema?: z.ZodType
  /** Returns the value; `undefined` omits the header. */
  value: (exchange: Exchange<Input, Output>) => string | undefined
}

/** A body in parts, as they arise. It ends early if the client disconnects: then `return` is called. */
export type Parts = AsyncIterable<string | Uint8Array>

/** Answers with a stream in place of the output. */
export type OpenStream = (parts: Parts) => void

/** The format of error bodies. */
export interface ErrorForm {
  schema: z.ZodType
  /** The schema of an error with data, for a form that includes the data. */
  withData?: (data: z.ZodType) => z.ZodType
  body: (fault: Fault) => unknown
}

/** The format of responses with the standard envelope (`?envelope=true`), for successes and errors. */
export interface EnvelopeForm {
  /** @param facts the schemas of the `facts` of `success` */
  schema: (data: z.ZodType, facts: Record<string, z.ZodType>) => z.ZodType
  /** @param facts the output fields other than the data, such as the page number of a list */
  success: (data: Record<string, unknown>, facts: Record<string, unknown>) => unknown
  error: ErrorForm
}

/**
 * One binding of a procedure: trpc-openapi's `meta.openapi`, extended in the vocabulary of google.api.http (`body`,
 * `responseBody`, `additionalBindings`).
 */
export interface Binding<Input = any, Output = any> extends OperationFacts {
  /** The tag of this binding in the document. Default: the tag of the resource. */
  tag?: Tag
  /** Path parameters whose name differs from their input field: `{ user_id: 'id' }`. */
  params?: Record<string, string>
  /**
   * The query that finds the record that the path is under, by a path parameter: `{ user_id: 'users.get' }`. The parameter is the
   * first field of its input, and its 404 is that of the path.
   */
  parents?: Record<string, string>
  /** Request headers and the input fields they fill: `{ 'Idempotency-Key': 'idempotency_key' }`. */
  headerParams?: Record<string, string>
  /** Alternative body keys for input fields: `{ username: 'name' }`. */
  aliases?: Record<string, string>
  /** Required input fields that are optional in this binding. The implementation gets `undefined` for an omitted one. */
  optional?: readonly string[]
  /** Schemas of input fields that this binding requires or restricts further. They must accept no other values. */
  fields?: Readonly<Record<string, z.ZodType>>
  /** The status for a body that is not JSON. Default: 415. With 400, such a body counts as missing. */
  otherMediaType?: 400 | 415
  /**
   * The input field that is the whole body; all fields without another source then come from the query string. Default:
   * the body is an object of all fields without another source.
   */
  body?: string
  /** The output field that is the whole response body. The other fields go into the envelope's `meta`. */
  responseBody?: string
  /** The schema whose parse result is the response body. Default: the output schema of the procedure. */
  response?: z.ZodType
  /** Default: 200. A 204 has no body and no `response`. */
  status?: 200 | 201 | 204
  /** The key of the response in the envelope's `data`. Default: the response is `data` itself. */
  envelope?: string
  /** Whether the query parameter `fields` picks fields of the response, a record or a list of records. Of a list without transform, only these are read. */
  pickable?: boolean
  /** The references whose records the query parameter `include` adds to the response, a record or a list of records. */
  includes?: Readonly<Record<string, Inclusion>>
  /** `significant`: the path with and without the trailing slash are different routes. Default: `optional`. */
  trailingSlash?: 'significant' | 'optional'
  /** The output field with the version of the record. It adds an `ETag` to the response. */
  etag?: string
  /** The input field for the versions in `If-Match`. */
  ifMatch?: string
  /** Response headers by name. A `Location` that begins with `/` is relative to the mount path of the handler. */
  headers?: Record<string, ResponseHeader<Input, Output>>
  /** The largest request body, in bytes. Default: 1 MiB. */
  bodyLimit?: number
  /**
   * Another form of the success, for callers whose `Accept` prefers this media type to JSON: a stream, for which the
   * implementation gets `open`.
   */
  stream?: { mediaType: string; description: string; example: string; headers?: Record<string, string> }
}

/** A reference of records: what reads the records to which it refers. */
export interface Inclusion {
  /** The field with the id of the record, or null. */
  field: string
  /** The query for one such record, `users.get`: the answer shows it as that of its first binding. */
  get: string
  /** The query for several, `users.list`. */
  list: string
  /** The input of its function for a list of ids, which callers cannot send. */
  by: string
  /** The field of these ids. */
  key: string
}

/** The first binding of a procedure. Additional bindings inherit the properties that they do not set. */
export interface RestMeta<Input = any, Output = any> extends Binding<Input, Output> {
  additionalBindings?: (Partial<Binding<Input, Output>> & { path: `/${string}`; operationId: string })[]
}

/** The schemas of error data, by status. */
export type ErrorData = Readonly<Record<number, z.ZodType>>

/** Matches any error data. It is `any`, because comparing two `ErrorData` types is slow to compile. */
export type AnyErrorData = any

export interface Procedure<
  Type extends 'query' | 'mutation' = 'query' | 'mutation',
  Input extends z.ZodType = z.ZodType,
  Output extends z.ZodType = z.ZodType,
  Data extends ErrorData = ErrorData,
> {
  type: Type
  /** The description for callers over tRPC. Default: that of the first binding. */
  description?: string
  /** The role that callers need. Default: none. `implement` passes it to `authorize`. */
  access?: string
  input: Input
  output: Output
  /** Error statuses of the implementation, in addition to those of the adapter (400, 401, 403, 406, 412, 413, 415, 500). */
  errors?: number[]
  /** The data of errors, by status. Only declared parts of an `ApiError`'s `data` reach the caller. */
  errorData?: Data
  /**
   * The input field that is a list of rows, and the boolean field that allows partial success. If that is true, the
   * implementation gets a FieldError in place of each invalid row, with paths relative to the row.
   */
  rows?: {
    field: string
    partial: string
    /**
     * For rows that change records: the optional fields, the input field that says which of them identifies the record, and
     * the fields of a record in responses. A row with other fields that changes no field is invalid.
     */
    changes?: { fields: string[]; key: string; answered: string[] }
  }
  /**
   * Whether it writes a number of records that the input does not tell. A tRPC batch may contain one such call, and then no
   * lists of records.
   */
  writesMany?: boolean
  /** The query that finds what the input names, if not the resource's `lookup`. */
  lookup?: string
  meta: { openapi: RestMeta<z.input<Input>, z.input<Output>> }
}

type Definition<Input extends z.ZodType, Output extends z.ZodType, Data extends ErrorData> = Omit<
  Procedure<any, Input, Output, Data>,
  'type'
>

/** A read-only procedure. */
export function query<Input extends z.ZodType, Output extends z.ZodType, Data extends ErrorData = ErrorData>(
  definition: Definition<Input, Output, Data>,
): Procedure<'query', Input, Output, Data> {
  return { type: 'query', ...definition }
}

/** A procedure that writes. */
export function mutation<Input extends z.ZodType, Output extends z.ZodType, Data extends ErrorData = ErrorData>(
  definition: Definition<Input, Output, Data>,
): Procedure<'mutation', Input, Output, Data> {
  return { type: 'mutation', ...definition }
}

export type Procedures = Record<string, Procedure<any, any, any, any>>

/** A group of operations in the document. */
export interface Tag {
  name: string
  description: string
}

/** A resource: its procedures, their tag in the document and their error form. */
export interface Resource<P extends Procedures = Procedures> {
  tag: string
  description: string
  errorForm: ErrorForm
  /**
   * The query that finds a record by its id and throws a 404 for a missing one. An invalid write to a missing record gets
   * this 404 instead of a 400.
   */
  lookup?: keyof P & string
  procedures: P
}

/** Returns the resource unchanged, with its inferred type. */
export function resource<P extends Procedures>(definition: Resource<P>): Resource<P> {
  return definition
}

export type Contract = Record<string, Resource<any>>

/** The shape of errors over tRPC, with the invalid fields and the error data. */
export type ErrorShape = TRPCDefaultErrorShape & {
  data: { fields: Fault['fields']; reason: string; errorData?: unknown }
}

/** The types of a procedure as callers see them. */
export interface ProcedureTypes {
  type: 'query' | 'mutation'
  input: unknown
  output: unknown
  /** The data of its errors, by status; never without any. */
  errorData: unknown
}

/** The types of the procedures of a contract. By their properties, because inferring type arguments is slow to compile. */
export type TypesOf<C extends Contract> = {
  [N in keyof C]: {
    [V in keyof C[N]['procedures']]: {
      type: C[N]['procedures'][V]['type']
      input: z.input<C[N]['procedures'][V]['input']>
      output: z.output<C[N]['procedures'][V]['output']>
      errorData: DataOf<C[N]['procedures'][V]>
    }
  }
}

type DataOf<P> = P extends { errorData?: infer Data }
  ? number extends keyof NonNullable<Data>
    ? never
    : { [S in keyof NonNullable<Data>]: z.output<NonNullable<Data>[S]> }
  : never

// biome-ignore lint/suspicious/noConfusingVoidType: `void` makes an argument optional for TypeScript
type Omittable<T> = T | void

/** The input of a call; the argument is optional if no field is required. */
export type CallInput<Input> = object extends Input ? Omittable<Input> : Input

type RouterProcedure<P> = P extends ProcedureTypes
  ? P['type'] extends 'query'
    ? TRPCQueryProcedure<{ input: CallInput<P['input']>; output: P['output']; meta: unknown }>
    : TRPCMutationProcedure<{ input: CallInput<P['input']>; output: P['output']; meta: unknown }>
  : never

/** The router type for a tRPC client, from the types of its procedures. */
export type RouterTo<A> = TRPCBuiltRouter<
  { ctx: object; meta: object; errorShape: ErrorShape; transformer: false },
  { [N in keyof A]: { [V in keyof A[N]]: RouterProcedure<A[N][V]> } }
>

/** The router type for a tRPC client, derived from the contract. */
export type RouterOf<C extends Contract> = RouterTo<TypesOf<C>>

/** The function of a procedure, from parsed input and context to output. */
// `shown` lists the record fields that the response contains: the function may omit all others. `open` is present if the caller
// wants a stream: if the function calls it, its output is not used.
export type Run<Input, Context, Output> = (
  input: Input,
  context: Context,
  shown?: readonly string[],
  open?: OpenStream,
) => Promise<Output>

/**
 * Wraps the function of a procedure. It gets valid input, and returns the result of `next`, returns another result, or
 * throws. `next` accepts a changed input and context.
 */
export type Middleware<Input = any, Context = any, Output = any> = (
  input: Input,
  context: Context,
  next: (input?: Input, context?: Context) => Promise<Output>,
) => Promise<Output>

/** The implementation of a contract: for each procedure a function, or an array of middlewares that ends with it. */
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
