// The cluster scenario of `npm run test:torture` in its short form; requires the Debian packages of etcd, Patroni, PostgreSQL,
// HAProxy and PgBouncer, or downloads them.
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { download, makeChecks } from './external-checks.ts'
import { root, run } from './run-command.mjs'

await makeChecks({
  failover: async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'cluster-'))
    await download('node', ['scripts/cluster.ts', 'download', folder.path], root)
    const env = { CLUSTER_FOLDER: folder.path, CLUSTER_SHORT: '1' }
    const { code } = await run('node', ['tests/src/main.ts', 'cluster'], { env })
    if (code !== 0) throw new Error(`exit code ${code}`)
  },
})
