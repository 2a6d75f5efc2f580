import { type CollectionFacts, contract } from '@resource/contract'
import {
  type Changes,
  declarations,
  type Entity,
  type RecordTable,
  ReferenceViolation,
  type Tables,
  type Where,
  type WrittenBy,
} from '@resource/database'
import { ApiError } from '@resource/openapi'

export type IfVersion = number | number[] | undefined

/**
 * Changes or deletes a record.
 *
 * @param noun the record's name in messages: `User`
 * @throws ApiError 404 if the record does not exist, 412 if it has a different version
 */
export async function writeVersioned<Row extends Entity, W extends { change: Changes<Row> } | { delete: true }>(
  table: RecordTable<Row>,
  noun: string,
  id: number,
  ifVersion: IfVersion,
  write: W,
): Promise<NonNullable<WrittenBy<W, Row>>> {
  const [written] = await table.write([{ ...write, id, versions: versionsOf(ifVersion) }])
  if (written === undefined) throw await refusal(table, noun, id, ifVersion)
  return written as NonNullable<WrittenBy<W, Row>>
}

export function notFound(noun: string): ApiError {
  return new ApiError(404, `${noun} not found`)
}

function versionsOf(ifVersion: IfVersion): number[] | undefined {
  return ifVersion === undefined ? undefined : [ifVersion].flat()
}

async function refusal<Row extends Entity>(
  table: RecordTable<Row>,
  noun: string,
  id: number,
  ifVersion: IfVersion,
): Promise<ApiError> {
  const stored = await table.find({ id } as Where<Row>)
  if (stored === undefined) return notFound(noun)
  const { version } = stored
  // Empty for `If-None-Match: *` and for tags that match no version.
  const fits = versionsOf(ifVersion)?.length !== 0
  const message = fits
    ? `${noun} has changed: its version is now ${version}; read it again before writing`
    : `${noun} exists, and the request's conditions do not allow its version ${version}`
  return new ApiError(412, message, { reason: 'stale_version', data: { version } })
}

/**
 * Rethrows an error of a write. If records of another collection refer to a deleted one, the error is an ApiError 409 with
 * their number.
 *
 * @param id the deleted record, if it was one
 */
export async function refuseDelete(error: unknown, noun: string, id: number | undefined, read: Tables): Promise<never> {
  if (!(error instanceof ReferenceViolation) || error.referring === undefined) throw error
  const { table, column } = error.referring as { table: keyof Tables; column: string }
  const references: { [column: string]: { table: string } } = declarations[table].references
  const isDirect = id !== undefined && references[column]?.table === noun
  const count = isDirect ? await read[table].count({ [column]: id }) : 0
  const [who, them] = count === 1 ? [`1 ${oneOf(table)} refers`, 'it'] : [`${count} ${table} refer`, 'them']
  throw new ApiError(
    409,
    count > 0
      ? `${who} to the ${oneOf(noun)} by ${column}: delete or change ${them} first`
      : `Some ${table} refer by ${column} to records that would be deleted: delete or change them first`,
    { reason: 'referenced', cause: error },
  )
}

/** The singular noun of a collection. */
function oneOf(noun: string): string {
  return (contract as Record<string, { collection?: CollectionFacts }>)[noun]?.collection?.one ?? noun
}
