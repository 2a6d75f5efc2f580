import type { Row } from './row.ts'
import { badRequests } from './rows/bad-requests.ts'
import { diskFull } from './rows/disk-full.ts'
import { gracefulRestarts } from './rows/graceful-restarts.ts'
import { kills } from './rows/kills.ts'
import { overload } from './rows/overload.ts'
import { passwords } from './rows/passwords.ts'
import { postgresRestarts } from './rows/postgres-restarts.ts'
import { slowSockets } from './rows/slow-sockets.ts'
import { trpcBatches } from './rows/trpc-batches.ts'

/** In the order of the run. */
export const rows: Row[] = [
  kills,
  postgresRestarts,
  diskFull,
  gracefulRestarts,
  badRequests,
  slowSockets,
  trpcBatches,
  passwords,
  overload,
]
