import type { Change, Changes, Entity, RecordTable, Where } from '@resource/database'
import { ApiError } from '@resource/openapi'

export type IfVersion = number | number[] | undefined

/**
 * Writes changes into a record and increments its version.
 *
 * @param noun what the messages call the record: `User`
 * @param check is given what the write made of the record; what it throws undoes the write, unless that was autocommitted
 * @throws ApiError 404 when there is no such record, 412 when it has another version
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
 * Deletes a record, by the same rules.
 *
 * @throws ApiError 404 when there is no such record, 412 when it has another version
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
  // Of `If-None-Match: *`, and of tags that no version has.
  const fits = versionsOf(ifVersion)?.length !== 0
  const message = fits
    ? `${noun} has changed: its version is now ${version}; read it again before writing`
    : `${noun} exists, and its version ${version} is none that the request's conditions allow`
  return new ApiError(412, message, { data: { version } })
}
