import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { startService } from './processes.ts'

type Service = Awaited<ReturnType<typeof startService>>

/** A program that the command line starts. */
function script(service: Service, name: string, lines: string): string {
  const path = service.path(name)
  writeFileSync(path, `#!/bin/sh\n${lines}\n`)
  chmodSync(path, 0o755)
  return path
}

async function withLamp() {
  const service = await startService()
  await service.client.items.create.mutate({ name: 'Lamp', price: 24.5, category: 'light' })
  return service
}

test('edit opens the fields of a record in the editor and saves only the changed ones', async () => {
  await using service = await withLamp()
  const EDITOR = `${script(service, 'editor', 'cat "$2" > seen; sed -i "s/24.5/30/; s/\\"light\\"/null/" "$2"')} --wait`
  const { code, stdout } = await service.run(['items', 'edit', '1', '--json'], '', { EDITOR })
  expect([code, JSON.parse(stdout)]).toEqual([0, { id: 1, name: 'Lamp', price: 30, category: null, version: 2 }])
  expect(JSON.parse(readFileSync(service.path('seen'), 'utf8'))).toEqual({
    name: 'Lamp',
    price: 24.5,
    category: 'light',
  })
  const same = await service.run(['items', 'edit', '1'], '', { EDITOR: 'true' })
  expect([same.code, same.stderr, same.stdout]).toEqual([
    0,
    'Nothing was changed.\n',
    expect.stringContaining('version: 2'),
  ])
})

test('edit saves nothing over a change of someone else, and keeps the text', async () => {
  await using service = await withLamp()
  const change = `curl -s -X PATCH ${service.url}/items/1 -H 'Content-Type: application/json' -d '{"price":1}' >/dev/null`
  const EDITOR = script(service, 'editor', `${change}; sed -i s/24.5/30/ "$1"`)
  const { code, stderr } = await service.run(['items', 'edit', '1', '--json'], '', { EDITOR })
  const { error } = JSON.parse(stderr)
  expect([code, error.code]).toEqual([4, 'conflict'])
  expect(JSON.parse(readFileSync(error.file, 'utf8')).price).toBe(30)
  expect(await service.client.items.get.query({ id: 1 })).toMatchObject({ price: 1, version: 2 })
})

test('edit names an invalid field, and on a terminal offers to edit the text again', async () => {
  await using service = await withLamp()
  const EDITOR = script(
    service,
    'editor',
    '[ -f tried ] && sed -i "s/-1/7/" "$1" || sed -i "s/24.5/-1/" "$1"; touch tried',
  )
  const message = '--price: must be a number from 0 to 1e12'
  const { code, screen } = await service.typeOnTerminal(
    ['items', 'edit', '1'],
    [{ question: 'Edit the text again? [y/N]', text: 'y' }],
    {
      environment: { EDITOR },
    },
  )
  expect([code, screen]).toEqual([0, expect.stringContaining(message)])
  expect(await service.client.items.get.query({ id: 1 })).toMatchObject({ price: 7, version: 2 })
  expect(existsSync(service.path('tried'))).toBe(true)
})

test('open starts the browser with the address of the console, a table or a record', async () => {
  await using service = await startService()
  const BROWSER = script(service, 'browser', 'echo "$1" >> visited')
  for (const args of [[], ['items'], ['items', '7']]) {
    expect((await service.run(['open', ...args], '', { BROWSER })).code).toBe(0)
  }
  const { url } = service
  const visited = () =>
    existsSync(service.path('visited')) ? readFileSync(service.path('visited'), 'utf8').trim().split('\n').sort() : []
  await expect.poll(visited).toEqual([`${url}/console`, `${url}/console/items`, `${url}/console/items/7`])
  expect((await service.run(['open', 'items', '7', '--no-browser'])).stdout).toBe(`${url}/console/items/7\n`)
  const pageless = await service.run(['open', 'audit', '--no-browser'])
  expect([pageless.code, pageless.stderr]).toEqual([
    2,
    expect.stringContaining('Allowed choices are users, books, items'),
  ])
  const failed = await service.run(['open'], '', { BROWSER: service.path('none') })
  expect([failed.code, failed.stderr]).toEqual([1, expect.stringContaining(`The address is ${url}/console`)])
})
