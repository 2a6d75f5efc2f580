import type { Noun, Row } from '../resources/resource.ts'
import { onLogOut } from '../ui/log-out.ts'

const MAX_KEPT = 20_000

// Their changes may arrive a moment after their answers.
const LATE_MS = 500

const queues = new Map<string, Promise<unknown>>()
const writes = new Map<Noun, Promise<unknown>>()
// The record that a write of this page made of a version.
const written = new Map<string, Row>()

onLogOut(() => written.clear())

/** Runs a write after the writes of the same records that this page began before. */
export async function inTurn<T>(noun: Noun, ids: number[], write: () => Promise<T>): Promise<T> {
  const keys = ids.map((id) => `${noun}/${id}`)
  const before = Promise.all(keys.map((key) => queues.get(key)))
  const result = before.then(write)
  const settled = result.catch(() => {})
  for (const key of keys) queues.set(key, settled)
  void settled.then(() => {
    for (const key of keys) if (queues.get(key) === settled) queues.delete(key)
  })
  const late = settled.then(() => new Promise((resolve) => setTimeout(resolve, LATE_MS)))
  const all = Promise.all([writes.get(noun), late])
  writes.set(noun, all)
  void all.then(() => writes.get(noun) === all && writes.delete(noun))
  return result
}

/** Settles after the writes of a record that this page has begun. */
export async function turnOf(noun: Noun, id: number): Promise<void> {
  await queues.get(`${noun}/${id}`)
}

/** While this page writes records of a noun, and a moment longer: settles afterwards. */
export function ownWrites(noun: Noun): Promise<unknown> | undefined {
  return writes.get(noun)
}

/** Notes that a write of this page made one version of a record from another. */
export function noteWrite(noun: Noun, before: Row, after: Row): void {
  if (after.version === before.version) return
  written.set(versionKey(noun, before), after)
  const [oldest] = written.keys()
  if (written.size > MAX_KEPT && oldest !== undefined) written.delete(oldest)
}

/** A record after the writes of this page since. A write of anyone else ends them, so that the service finds the conflict. */
export function latestOf(noun: Noun, row: Row): Row {
  const next = written.get(versionKey(noun, row))
  return next === undefined ? row : latestOf(noun, next)
}

function versionKey(noun: Noun, { id, version }: Row): string {
  return `${noun}/${id}/${version}`
}
