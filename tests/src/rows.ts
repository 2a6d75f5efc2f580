import type { Row } from './row.ts'
import { kills } from './rows/kills.ts'

/** In the order of the run. */
export const rows: Row[] = [kills]
