import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { type Client, createClient } from '@resource/client'
import { expect, test } from 'vitest'
import { type Random, seededRandom, seedOfRun } from './fuzz/random.ts'
import { spawnService, temporaryFolder } from './service-process.ts'

const fileOf = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url))
// Outside node_modules, where Node.js does not run TypeScript.
const cache = fileOf('apps/server/dist')

type Row = Record<string, unknown> & { id: number }

/** A program that keeps a copy of the items in a file. */
interface Follower {
  command: (file: string, project: string) => string[]
  read: (file: string) => Promise<Row[]>
}

const json = async (file: string) => JSON.parse(await readFile(file, 'utf8'))
const hasPython = spawnSync('python3', ['--version']).status === 0

const followers: Record<string, Follower> = {
  'the TypeScript example': {
    command: (file, project) => [process.execPath, join(project, 'follow.ts'), file],
    read: async (file) => (await json(file)).items.map(([, item]: [number, Row]) => item),
  },
  ...(hasPython && {
    'the Python example': {
      command: (file) => ['python3', fileOf('docs/snippets/follow.py'), file],
      read: async (file) => Object.values((await json(file))[1]),
    },
  }),
  'resource mirror': {
    command: (file) => [process.execPath, fileOf('apps/cli/src/main.mjs'), 'mirror', file, '--follow'],
    read: async (file) => {
      using database = new DatabaseSync(file, { readOnly: true })
      return database.prepare('SELECT * FROM items').all() as Row[]
    },
  },
}

const WRITES = 120

test('copies equal the source after random writes, kills of the service and of the programs that copy, and a loss of positions', async () => {
  await using folder = await temporaryFolder()
  await mkdir(cache, { recursive: true })
  const project = await mkdtemp(join(cache, 'copies-'))
  await copyFile(fileOf('docs/snippets/follow.ts'), join(project, 'follow.ts'))
  let service = spawnService(folder.path, { RATE_LIMIT: '0' })
  const baseUrl = await service.url()
  const client = createClient({ baseUrl, retryForMs: 60_000, timeoutMs: 60_000 })
  const random = seededRandom(seedOfRun())
  // The list has more than one page.
  for (let n = 0; n < 2; n++) await client.items.createMany.mutate({ items: some(600, random) })
  const running = Object.values(followers).map(({ command, read }, index) => {
    const file = join(folder.path, `copy-${index}`)
    const start = () => {
      const [program = '', ...args] = command(file, project)
      const env = { ...process.env, BASE_URL: baseUrl, RESOURCE_URL: baseUrl, XDG_CONFIG_HOME: folder.path }
      return spawn(program, args, { env, stdio: 'ignore' })
    }
    let child = start()
    const stop = async () => {
      if (child.exitCode === null && child.kill('SIGKILL')) await once(child, 'close')
    }
    const restart = async () => {
      await stop()
      child = start()
    }
    return { restart, stop, rows: () => read(file).then(shown, () => undefined) }
  })
  try {
    // Before its first copy, `mirror` does not wait for a service that cannot be reached.
    for (const { rows } of running) await expect.poll(rows).toBeDefined()
    for (let n = 1; n <= WRITES; n++) {
      await write(client, random)
      if (n % 40 === 0) await random.pick(running).restart()
      if (n !== 30 && n !== 70) continue
      await service[Symbol.asyncDispose]()
      if (n === 70) forget(join(folder.path, 'data', 'resource.db'))
      service = spawnService(folder.path, { RATE_LIMIT: '0', PORT: new URL(baseUrl).port })
    }
    const source: Row[] = []
    for await (const row of client.items.iterate({ limit: 1000 })) source.push(row)
    expect(source.length).toBeGreaterThan(1_000)
    for (const { rows } of running) await expect.poll(rows).toEqual(shown(source))
  } finally {
    for (const { stop } of running) await stop()
    await service[Symbol.asyncDispose]()
    await rm(project, { recursive: true })
  }
})

/** Deletes the audit log, and with it every position in the changes. */
function forget(file: string): void {
  using database = new DatabaseSync(file)
  database.exec('DELETE FROM audit_entries')
}

/** The records as REST shows them, without the version, by id. */
function shown(rows: Row[]): string[] {
  return rows
    .sort((a, b) => a.id - b.id)
    .map(({ id, name, price, category }) => JSON.stringify({ id, name, price, category }))
}

function some(count: number, random: Random) {
  const item = () => ({
    name: random.pick(['Lamp', 'Rug ☀', 'Sofa']),
    price: random.int(1, 999) / 10,
    category: random.pick(['x', 'y', null]),
  })
  return Array.from({ length: count }, item)
}

async function write({ items }: Client, random: Random): Promise<unknown> {
  const [changes] = some(1, random)
  const id = random.int(1, 1_250)
  const writes = [
    () => items.createMany.mutate({ items: some(random.int(1, 3), random) }),
    () => items.update.mutate({ id, ...changes }),
    () => items.delete.mutate({ id }),
    () => items.updateWhere.mutate({ id_gte: id, id_lt: id + 9, changes: { add: { price: 1 } } }),
    () => items.deleteWhere.mutate({ id_in: [id, id + 1] }),
  ]
  return random
    .pick(writes)()
    .catch((error) => {
      if (error.code !== 'not_found') throw error
    })
}
