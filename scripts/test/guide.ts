import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { openBrowser } from '../../packages/browser-test/src/browser.ts'
import { root } from '../run-command.mjs'
import type { Clone } from './clone.ts'

// If the project already has orders, the test follows the guide with another name.
const orders = existsSync(join(root, 'packages/contract/src/orders.ts')) ? 'guideorders' : 'orders'
const guide = readFileSync(join(root, 'docs/guides/add-a-resource.md'), 'utf8')
  .replaceAll('orders', orders)
  .replaceAll(/\border\b/g, orders.slice(0, -1))
const [add = '', requests = '', remove = ''] = [...guide.matchAll(/^```sh\n(.*?)^```/gms)].map(([, block]) => block)
const TIME = /\d{4}-\d\d-\d\dT[\d:.]+Z/g

/** Follows the guide: adds orders, serves them, and removes them again. */
export async function followGuide(clone: Clone): Promise<void> {
  const [create = '', start = '', ...more] = add.trim().split('\n')
  expect([start, more]).toEqual(['npm start', []])

  clone.run(create)
  expect(clone.changes().map((change) => change.replace(/\d{4}_/, 'NNNN_'))).toEqual([
    ' M apps/server/src/operations.ts',
    ' M packages/contract/openapi.snapshot.json',
    ' M packages/contract/src/hash.ts',
    ' M packages/contract/src/writable.ts',
    ' M prisma/schema.prisma',
    `?? apps/server/src/${orders}/rules.ts`,
    `?? apps/server/test/${orders}.test.ts`,
    `?? packages/contract/src/${orders}.ts`,
    `?? prisma/migrations/postgresql/NNNN_compatible_add_${orders}/migration.sql`,
    `?? prisma/migrations/sqlite/NNNN_compatible_add_${orders}/migration.sql`,
  ])
  {
    await using service = await clone.start(start)
    for (const [, command = '', answer] of requests.matchAll(/^(curl .*)\n# (.*)$/gm)) {
      expect((await send(service.url, command)).replace(TIME, 'TIME')).toBe(answer?.replace(TIME, 'TIME'))
    }
    const { paths } = JSON.parse(await (await fetch(`${service.url}/openapi.json`)).text())
    expect(Object.keys(paths)).toEqual(expect.arrayContaining([`/${orders}`, `/${orders}/{id}`, `/${orders}/bulk`]))

    const browser = await openBrowser()
    try {
      const page = await browser.newPage()
      await page.goto(`${service.url}/console/${orders}`)
      await page.getByText('A-1', { exact: true }).first().waitFor({ timeout: 60_000 })
    } finally {
      await browser.close()
    }
  }
  clone.run(remove)
  expect(clone.changes()).toEqual([])
}

/** Sends the request of a curl command in the guide. @returns the response body */
async function send(url: string, command: string): Promise<string> {
  const [, method = 'GET'] = /-X (\w+)/.exec(command) ?? []
  const [, path = ''] = /localhost:3000([^\s']*)/.exec(command) ?? []
  const [, body] = /-d '([^']*)'/.exec(command) ?? []
  const init = body === undefined ? {} : { body, headers: { 'Content-Type': 'application/json' } }
  return (await fetch(url + path, { method, ...init })).text()
}
