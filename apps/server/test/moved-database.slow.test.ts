import { existsSync } from 'node:fs'
import { readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { spawnService, temporaryFolder } from './service-process.ts'

const create = (url: string) =>
  fetch(`${url}/items/`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Connection: 'close' },
    body: '{"name":"Lamp","price":1}',
  })

test('a service whose database file is replaced refuses writes and is not ready, and its log does not reach the other file', async () => {
  await using folder = await temporaryFolder()
  const file = join(folder.path, 'data', 'resource.db')
  await using other = spawnService(folder.path, { DATABASE_URL: 'file:data/other.db' })
  await create(await other.url())
  other.signal('SIGTERM')
  await other.exited
  await using service = spawnService(folder.path)
  const url = await service.url()
  for (const _ of [1, 2]) expect((await create(url)).status).toBe(201)
  await rename(join(folder.path, 'data', 'other.db'), file)
  expect(await service.logged(({ msg }) => msg === 'no more writes are accepted')).toMatchObject({
    err: { message: expect.stringContaining('was moved, deleted or replaced while the service was running') },
  })
  const refused = await create(url)
  expect([refused.status, await refused.json()]).toEqual([
    503,
    { message: 'The database cannot be written, because its file was moved or replaced: restart the service' },
  ])
  expect((await fetch(`${url}/readyz`)).status).toBe(503)
  expect((await fetch(`${url}/readyz/reads`)).status).toBe(200)
  expect((await fetch(`${url}/items/2`)).status).toBe(200)
  service.signal('SIGTERM')
  expect(await service.exited).toEqual({ code: 0, stderr: '' })

  await using next = spawnService(folder.path)
  const items = await fetch(`${await next.url()}/items`)
  expect(await items.json()).toMatchObject([{ id: 1 }])
  const kept = (await readdir(join(folder.path, 'data'))).filter((name) => /^resource\.db-wal\.\d+$/.test(name))
  expect(kept.length).toBe(1)
})

test('a worker that replaces another does not create another database file', async () => {
  await using folder = await temporaryFolder()
  await using service = spawnService(folder.path, { WORKERS: '2' })
  const url = await service.url()
  const pids = new Set<number>()
  await service.logged(({ url, pid }) => url !== undefined && pids.add(pid as number).size === 2)
  expect((await create(url)).status).toBe(201)
  for (const ending of ['', '-wal', '-shm']) await rm(join(folder.path, 'data', `resource.db${ending}`))
  process.kill([...pids][1] as number, 'SIGKILL')
  // The replacement fails to start.
  await service.logged(({ msg, code }) => msg.startsWith('worker died') && code === 1)
  expect(existsSync(join(folder.path, 'data', 'resource.db'))).toBe(false)
  expect((await create(url)).status).toBe(503)
})
