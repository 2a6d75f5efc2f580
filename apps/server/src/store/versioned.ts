import { Problem } from '@resource/openapi'

export type IfVersion = number | number[] | undefined

/** The part of a Prisma model's delegate that writes by version need. */
interface Versioned<Row> {
  findUnique: (query: { where: { id: number } }) => PromiseLike<Row | null>
  updateManyAndReturn: (query: { where: object; data: object }) => PromiseLike<Row[]>
  deleteMany: (query: { where: object }) => PromiseLike<{ count: number }>
}

interface Row {
  id: number
  version: number
  updated_at?: Date
}

/**
 * Writes `data` into a record and increments its version. The write's own statement decides whether the version is one
 * of those asked for, so no other write can come in between.
 *
 * @param noun what the messages call the record: `User`
 * @throws Problem 404 when there is no such record, 412 when it has another version
 */
export async function updateVersioned<R extends Row>(
  model: unknown,
  noun: string,
  id: number,
  ifVersion: IfVersion,
  data: object & { updated_at?: Date },
): Promise<R> {
  const table = model as Versioned<R>
  let { updated_at: time } = data
  for (;;) {
    const [written] = await table.updateManyAndReturn({
      where: { ...matching(id, ifVersion), ...(time && { updated_at: { lte: time } }) },
      data: { ...data, ...(time && { updated_at: time }), version: { increment: 1 } },
    })
    if (written !== undefined) return written
    const stored = await table.findUnique({ where: { id } })
    if (stored === null || !isWanted(stored.version, ifVersion)) throw refusal(noun, stored)
    // The clock was set back: updated_at stays where it is rather than go back.
    time = stored.updated_at
  }
}

/**
 * Deletes a record, by the same rules.
 *
 * @throws Problem 404 when there is no such record, 412 when it has another version
 */
export async function deleteVersioned(model: unknown, noun: string, id: number, ifVersion: IfVersion): Promise<void> {
  const table = model as Versioned<Row>
  const { count } = await table.deleteMany({ where: matching(id, ifVersion) })
  if (count === 0) throw refusal(noun, await table.findUnique({ where: { id } }))
}

export function notFound(noun: string): Problem {
  return new Problem(404, `${noun} not found`)
}

function matching(id: number, ifVersion: IfVersion) {
  return { id, ...(ifVersion !== undefined && { version: { in: [ifVersion].flat() } }) }
}

function isWanted(version: number, ifVersion: IfVersion): boolean {
  return ifVersion === undefined || [ifVersion].flat().includes(version)
}

function refusal(noun: string, stored: Row | null): Problem {
  if (stored === null) return notFound(noun)
  return new Problem(412, `${noun} has changed: its version is now ${stored.version}; read it again before writing`)
}
