import type { Services } from '../store/context.ts'
import { findEntry, listEntries } from './store.ts'

/** Who changed what. The entries are made by the writes themselves (`trail.ts`), and by nothing else. */
export function auditService(): Services['audit'] {
  return {
    list: (input, { read }) => listEntries(read, input),

    get: ({ id }, { read }) => findEntry(read, id),
  }
}
