import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { startService } from './processes.ts'

test('Ctrl-C and Ctrl-D at a question or a key exit with code 130, and nothing is changed', async () => {
  await using service = await startService()
  await service.client.items.create.mutate({ name: 'Lamp', price: 1 })
  for (const key of ['\x03', '\x04']) {
    for (const [args, question] of [
      [['items', 'delete', '1'], 'Delete 1 item? [y/N]'],
      [['login', '--url', service.url], 'API key (empty for none):'],
      [['login'], 'URL of the service'],
      [['users', 'create', '--name', 'Ada', '--email', 'ada@example.com', '--password'], 'password:'],
    ] as const) {
      const { code, screen } = await service.typeOnTerminal([...args], [{ question, key }], { columns: 200 })
      expect([args, code, screen.slice(screen.indexOf(question))]).toEqual([
        args,
        130,
        expect.stringMatching(/^[^\n]*\nInterrupted\. Nothing was changed\.\n$/),
      ])
    }
  }
  expect((await service.client.items.list.query({})).items.length).toBe(1)
  expect((await service.client.users.list.query({})).users).toEqual([])
  expect(existsSync(service.path('.config'))).toBe(false)
})
