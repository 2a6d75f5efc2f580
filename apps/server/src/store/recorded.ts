import type { Values } from './row-mapping.ts'

type Recorded = Record<string, string | number | boolean | null>

/** The record in a column of an entry, null if there is none; undefined if it was damaged outside the service. */
export function recordedIn(json: string | null): Recorded | null | undefined {
  if (json === null) return null
  const record = parsed(json)
  return isRecorded(record) ? record : undefined
}

/** What an entry keeps of hidden columns: the value before, and the digest of that after. Undefined if it was damaged. */
export function keptIn(json: string | null): Record<string, [unknown, string | null]> | undefined {
  if (json === null) return {}
  const kept = parsed(json)
  return isKept(kept) ? kept : undefined
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

function isKept(value: unknown): value is Record<string, [unknown, string | null]> {
  return isObject(value) && Object.values(value).every((pair) => Array.isArray(pair) && pair.length === 2)
}

function isObject(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isRecorded(value: unknown): value is Recorded {
  return isObject(value) && Object.values(value).every((field) => field === null || typeof field !== 'object')
}
