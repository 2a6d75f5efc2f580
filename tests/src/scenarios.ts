import type { Scenario } from './scenario.ts'
import { backupMisuse } from './scenarios/backup-misuse.ts'
import { badRequests } from './scenarios/bad-requests.ts'
import { cluster } from './scenarios/cluster.ts'
import { diskFull } from './scenarios/disk-full.ts'
import { followers } from './scenarios/followers.ts'
import { gracefulRestarts } from './scenarios/graceful-restarts.ts'
import { hostile } from './scenarios/hostile.ts'
import { kills } from './scenarios/kills.ts'
import { largeChanges } from './scenarios/large-changes.ts'
import { lockOrders } from './scenarios/lock-orders.ts'
import { lockedMigration } from './scenarios/locked-migration.ts'
import { overload } from './scenarios/overload.ts'
import { passwords } from './scenarios/passwords.ts'
import { postgresRestarts } from './scenarios/postgres-restarts.ts'
import { powerCuts } from './scenarios/power-cuts.ts'
import { readiness } from './scenarios/readiness.ts'
import { rollingUpgrade } from './scenarios/rolling-upgrade.ts'
import { slowSockets } from './scenarios/slow-sockets.ts'
import { stalledSockets } from './scenarios/stalled-sockets.ts'
import { stuckWrites } from './scenarios/stuck-writes.ts'
import { trpcBatches } from './scenarios/trpc-batches.ts'

/** In execution order. */
export const scenarios: Scenario[] = [
  kills,
  powerCuts,
  backupMisuse,
  postgresRestarts,
  stuckWrites,
  cluster,
  diskFull,
  gracefulRestarts,
  rollingUpgrade,
  lockedMigration,
  badRequests,
  hostile,
  slowSockets,
  stalledSockets,
  readiness,
  lockOrders,
  largeChanges,
  followers,
  trpcBatches,
  passwords,
  overload,
]
