import type { Change, Changes, Entity, RecordTable, Where } from '@resource/database'
import { ApiError } from '@resource/openapi'

export type IfVersion = number | number[] | undefined

/**
 * Updates a record and increments its version.
 *
 * @param noun the record's name in messages: `User`
 * @param check gets the record before and after. An error it throws rolls the write back, unless the write is autocommitted.
 * @throws ApiError 404 if the record does not exist, 412 if it has a different version
 */
export async function updateVersioned<Row extends Entity>(
  table: RecordTable<Row>,
  noun: string,
  id: number,
  ifVersion: IfVersion,
  changes: NoInfer<Changes<Row>>,
  check?: (change: Change<Row>) => void,
): Promise<Row> {
  const change = await table.update(id, versionsOf(ifVersion), changes)
  if (change === undefined) throw await refusal(table, noun, id, ifVersion)
  check?.(change)
  return change.after
}

/**
 * Deletes a record.
 *
 * @throws ApiError 404 if the record does not exist, 412 if it has a different version
 */
export async function deleteVersioned<Row extends Entity>(
  table: RecordTable<Row>,
  noun: string,
  id: number,
  ifVersion: IfVersion,
): Promise<void> {
  if ((await table.delete(id, versionsOf(ifVersion))) === undefined) throw await refusal(table, noun, id, ifVersion)
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
  return new ApiError(412, message, { data: { version } })
}
