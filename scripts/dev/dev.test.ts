import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { expect, test } from 'vitest'
import { run } from '../run-command.mjs'

test('npm run dev exits with advice if the port is in use', { timeout: 60_000 }, async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const PORT = String((other.address() as AddressInfo).port)
  const { code, output } = await run('node', ['scripts/dev/main.ts'], { quiet: true, env: { PORT } })
  other.close()
  expect({ code, output }).toEqual({
    code: 1,
    output: 'The port is in use: set PORT to another, or stop the program that uses it\n',
  })
})

test('npm run dev and npm start reject arguments', { timeout: 60_000 }, async () => {
  for (const command of ['dev', 'start']) {
    const { code, output } = await run('node', ['scripts/run.mjs', command, '--port', '8080'], { quiet: true })
    expect({ code, output }).toEqual({
      code: 2,
      output: `npm run ${command} takes no arguments. Settings are environment variables, for example PORT=8080.\n`,
    })
  }
})
