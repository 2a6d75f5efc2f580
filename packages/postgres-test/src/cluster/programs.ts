import { execFile } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** The Debian package of each file that the cluster needs. */
const PACKAGES = {
  'usr/bin/etcd': 'etcd-server',
  'usr/bin/patroni': 'patroni',
  'usr/lib/postgresql/*/bin/postgres': 'postgresql',
  'usr/sbin/haproxy': 'haproxy',
  'usr/sbin/pgbouncer': 'pgbouncer',
}
// PostgreSQL needs them only to compile expressions, which it then omits.
const OMITTED = /^lib(?:llvm|z3)/

export type Program = keyof typeof PACKAGES

/** The path of a program: in a folder that {@link downloadPrograms} filled, otherwise in the system. */
export function programIn(folder: string, program: Program): string {
  const found = find(folder, program)
  if (found !== undefined) return found
  const names = Object.values(PACKAGES).join(' ')
  throw new Error(`${PACKAGES[program]} is not installed. On Debian: apt-get install ${names}`)
}

/** The variables with which the programs of a folder find their libraries. */
export function environmentIn(folder: string): Record<string, string> {
  const modules = { PYTHONPATH: join(folder, 'usr/lib/python3/dist-packages') }
  const [libraries] = globSync(join(folder, 'usr/lib/*-linux-gnu'))
  // If the system has some of the programs, the others may need no further libraries.
  if (libraries === undefined) return modules
  const old = join(folder, 'lib', libraries.slice(libraries.lastIndexOf('/') + 1))
  return { ...modules, LD_LIBRARY_PATH: `${libraries}:${old}` }
}

/**
 * Unpacks the Debian packages that the system lacks into a folder: nothing is installed.
 *
 * @throws Error if the system is not Debian, or if a package cannot be downloaded
 */
export async function downloadPrograms(folder: string): Promise<void> {
  const missing = Object.entries(PACKAGES).filter(([program]) => find(folder, program) === undefined)
  if (missing.length === 0) return
  const archives = join(folder, 'archives')
  await mkdir(archives, { recursive: true })
  const run = promisify(execFile)
  const names = missing.map(([, name]) => name)
  const plan = await run('apt-get', ['--simulate', '--no-install-recommends', 'install', ...names])
  // Without the upgrades, whose lines have the installed version in brackets.
  const needed = [...plan.stdout.matchAll(/^Inst (\S+) \(/gm)].flatMap(([, name = '']) =>
    OMITTED.test(name) ? [] : name,
  )
  await run('apt-get', ['download', ...needed], { cwd: archives })
  for (const archive of globSync(join(archives, '*.deb'))) await run('dpkg-deb', ['--extract', archive, folder])
}

function find(folder: string, program: string): string | undefined {
  return globSync([join(folder, program), join('/', program)]).find((path) => existsSync(path))
}
