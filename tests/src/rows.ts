import type { Row } from './row.ts'
import { kills } from './rows/kills.ts'
import { postgresRestarts } from './rows/postgres-restarts.ts'

/** In the order of the run. */
export const rows: Row[] = [kills, postgresRestarts]
