import type { Row } from './row.ts'
import { diskFull } from './rows/disk-full.ts'
import { gracefulRestarts } from './rows/graceful-restarts.ts'
import { kills } from './rows/kills.ts'
import { postgresRestarts } from './rows/postgres-restarts.ts'

/** In the order of the run. */
export const rows: Row[] = [kills, postgresRestarts, diskFull, gracefulRestarts]
