import type { Values } from '../store/row-mapping.ts'

type Recorded = Record<string, string | number | boolean | null>

/** The record in a column of an entry, null if there is none; undefined if it was damaged outside the service. */
export function recordedIn(json: string | null): Recorded | null | undefined {
  if (json === null) return null
  try {
    const record: unknown = JSON.parse(json)
    return isRecorded(record) ? record : undefined
  } catch {
    return undefined
  }
}

function isRecorded(value: unknown): value is Recorded {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  return Object.values(value as Values).every((field) => field === null || typeof field !== 'object')
}
