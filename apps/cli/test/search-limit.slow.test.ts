import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { temporaryFolder } from './processes.ts'

/** A service on a database without a search index, with a list of two pages. */
function startUnindexed() {
  const item = { price: 1, category: null, version: 1 }
  const first = { items: [{ id: 1, name: 'Lamp', ...item }], page: 1, limit: 1, next: 'second', searched: 100_000 }
  const second = { items: [{ id: 2, name: 'Lamp', ...item }], limit: 1, next: null, searched: 100_000 }
  const server = createServer(({ url = '' }, response) => {
    const data = decodeURIComponent(url).includes('"after":"second"') ? second : first
    response.setHeader('Content-Type', 'application/json').end(JSON.stringify([{ result: { data } }]))
  })
  return new Promise<typeof server>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(server))
  })
}

test('list and export say how many records a search without an index covered', async () => {
  await using server = await startUnindexed()
  await using folder = await temporaryFolder()
  const { port } = server.address() as AddressInfo
  const remarks = async (...args: string[]) => {
    const { code, stderr } = await folder.run(args, { RESOURCE_URL: `http://127.0.0.1:${port}` })
    return [code, stderr]
  }
  const sentence = 'The database has no search index, so the search covers only the first 100,000 items.\n'
  const list = ['items', 'list', '--search', 'lamp']
  expect(await remarks(...list)).toEqual([0, `${sentence}More: --page 2, or --all\n`])
  expect(await remarks(...list, '--json')).toEqual([0, '{"searched":100000,"next":"second"}\n'])
  expect(await remarks(...list, '--all')).toEqual([0, sentence])
  expect(await remarks(...list, '--all', '--json')).toEqual([0, '{"searched":100000}\n'])
  expect(await remarks(...list, '--quiet')).toEqual([0, ''])
  const exported = ['export', '--type', 'items', '--search', 'lamp']
  expect(await remarks(...exported)).toEqual([0, sentence])
  expect(await remarks(...exported, '--json')).toEqual([0, '{"searched":100000}\n'])
})
