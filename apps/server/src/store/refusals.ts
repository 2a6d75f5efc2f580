import { type CollectionFacts, contract } from '@resource/contract'
import {
  declarations,
  type Entity,
  OutsideScope,
  type RecordTable,
  ReferenceViolation,
  type Tables,
  unscoped,
  type Where,
} from '@resource/database'
import { ApiError, FieldError, type Path } from '@resource/openapi'

export type IfVersion = number | number[] | undefined

/** The accepted versions; undefined for any. */
export function versionsOf(ifVersion: IfVersion): number[] | undefined {
  return typeof ifVersion === 'number' ? [ifVersion] : ifVersion
}

/** @param name of the record in messages: `User` */
export function notFound(name: string): ApiError {
  return new ApiError(404, `${name} not found`)
}

export function invalid(field: string, message: string): FieldError {
  return new FieldError(400, [{ path: [field], message }])
}

/** The error of a write that found no record with this id and version: a 404, or a 412 with the stored version. */
export async function missingOrStale<Row extends Entity>(
  table: RecordTable<Row>,
  name: string,
  id: number,
  ifVersion: IfVersion,
): Promise<ApiError> {
  // Without a version, the write did not find the record either.
  if (ifVersion === undefined) return notFound(name)
  const stored = await table.find({ id } as Where<Row>)
  if (stored === undefined) return notFound(name)
  const { version } = stored
  // Empty for `If-None-Match: *` and for tags that match no version.
  const fits = versionsOf(ifVersion)?.length !== 0
  const message = fits
    ? `${name} has changed: its version is now ${version}; read it again before writing`
    : `${name} exists, and the request's conditions do not allow its version ${version}`
  return new ApiError(412, message, { reason: 'stale_version', data: { version } })
}

/**
 * Converts an error of a write. If records of another collection refer to a deleted one, the error is an ApiError 409 with
 * their number.
 *
 * @param id the deleted record, if it was one
 */
export async function referenced(error: unknown, noun: string, id: number | undefined, read: Tables): Promise<unknown> {
  if (error instanceof OutsideScope) {
    const message = 'would put the record outside of what you have access to'
    return new FieldError(
      403,
      error.columns.map((column) => ({ path: [column], message })),
      { reason: 'scope' },
    )
  }
  if (!(error instanceof ReferenceViolation)) return error
  const { referring, columns, index } = error
  const isDelete = columns.length === 0 && index === undefined
  if (referring === undefined && isDelete) {
    const message = `Records of a later version of the service refer to the ${oneOf(noun)}: delete or change them first`
    return new ApiError(409, message, { reason: 'referenced', cause: error })
  }
  if (referring === undefined) return error
  const { table, column } = referring as { table: keyof Tables; column: string }
  const references: { [column: string]: { table: string } } = declarations[table].references
  const isDirect = id !== undefined && references[column]?.table === noun
  const count = isDirect ? await unscoped(read)[table].count({ [column]: id }) : 0
  const [who, them] = count === 1 ? [`1 ${oneOf(table)} refers`, 'it'] : [`${count} ${table} refer`, 'them']
  return new ApiError(
    409,
    count > 0
      ? `${who} to the ${oneOf(noun)} by ${column}: delete or change ${them} first`
      : `Some ${table} refer by ${column} to records that would be deleted: delete or change them first`,
    { reason: 'referenced', cause: error },
  )
}

/** The error of one row of a list, with the path of the row. */
export function atRow(error: ApiError, at: Path): ApiError {
  if (at.length === 0) return error
  if (error instanceof FieldError) return error.withPaths((path) => [...at, ...path])
  const { status, message, reason } = error
  return new FieldError(status, [{ path: at, message }], { reason })
}

/** The error of one of the records that match, which the request does not name. */
export function ofRecord({ status, message, fields, reason }: ApiError, name: string, id: number): ApiError {
  const named = fields.map((fault) => ({ ...fault, message: `${fault.message} (${name} ${id})` }))
  return new ApiError(status, `${name} ${id}: ${message}`, { fields: named, reason })
}

/** The singular noun of a collection. */
function oneOf(noun: string): string {
  return (contract as Record<string, { collection?: CollectionFacts }>)[noun]?.collection?.one ?? noun
}
