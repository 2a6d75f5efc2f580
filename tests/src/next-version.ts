import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const COPIED = ['apps/server', 'prisma']
const LINKED = ['apps/console', 'node_modules', 'package.json', 'packages']
const COLUMN = 'ALTER TABLE "items" ADD COLUMN "color" TEXT;\n'
const INDEX = '"items_color_id_idx" ON "items"("color", "id");\n'
const MIGRATIONS = {
  'sqlite/9001_compatible_color': `${COLUMN}CREATE INDEX ${INDEX}`,
  'postgresql/9001_compatible_color': COLUMN,
  'postgresql/9002_compatible_items_color_id_idx': `CREATE INDEX CONCURRENTLY IF NOT EXISTS ${INDEX}`,
}

/** A copy of the service with additional migrations, as its next version has them: a column and an index of the items. */
export async function nextVersion() {
  const folder = await mkdtemp(join(tmpdir(), 'next-version-'))
  for (const part of COPIED) await cp(join(ROOT, part), join(folder, part), { recursive: true, verbatimSymlinks: true })
  for (const part of LINKED) await symlink(join(ROOT, part), join(folder, part))
  for (const [name, sql] of Object.entries(MIGRATIONS)) {
    const migration = join(folder, 'prisma/migrations', name)
    await mkdir(migration)
    await writeFile(join(migration, 'migration.sql'), sql)
  }
  return {
    /** The program of its process. */
    main: join(folder, 'apps/server/src/main.ts'),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  }
}
