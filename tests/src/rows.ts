import type { Row } from './row.ts'
import { backupMisuse } from './rows/backup-misuse.ts'
import { badRequests } from './rows/bad-requests.ts'
import { diskFull } from './rows/disk-full.ts'
import { gracefulRestarts } from './rows/graceful-restarts.ts'
import { hostile } from './rows/hostile.ts'
import { kills } from './rows/kills.ts'
import { overload } from './rows/overload.ts'
import { passwords } from './rows/passwords.ts'
import { postgresRestarts } from './rows/postgres-restarts.ts'
import { powerCuts } from './rows/power-cuts.ts'
import { readiness } from './rows/readiness.ts'
import { slowSockets } from './rows/slow-sockets.ts'
import { stalledSockets } from './rows/stalled-sockets.ts'
import { trpcBatches } from './rows/trpc-batches.ts'

/** In the order of the run. */
export const rows: Row[] = [
  kills,
  powerCuts,
  backupMisuse,
  postgresRestarts,
  diskFull,
  gracefulRestarts,
  badRequests,
  hostile,
  slowSockets,
  stalledSockets,
  readiness,
  trpcBatches,
  passwords,
  overload,
]
