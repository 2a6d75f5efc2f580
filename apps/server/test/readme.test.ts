import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { startTestServer } from './harness.ts'

const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8')

/** The curl commands of the README, each with the response in the next line. */
function commands() {
  return [...readme.matchAll(/^(curl (?:.*\\\n)*.*)\n# (.*)$/gm)].map(([, command = '', answer = '']) => {
    const line = command.replaceAll('\\\n', ' ')
    const [, method = 'GET'] = /-X (\w+)/.exec(line) ?? []
    const [, path = ''] = /localhost:3000([^\s']*)/.exec(line) ?? []
    const [, raw] = /-d '([^']*)'/.exec(line) ?? []
    const headers = Object.fromEntries(
      [...line.matchAll(/-H '([^:]+): ([^']*)'/g)].map(([, name, value]) => [name, value]),
    )
    return { method, path, answer, options: { headers, ...(raw !== undefined && { raw }) } }
  })
}

const TIME = /"\d{4}-\d\d-\d\dT[\d:.]+Z"/g

test('every curl command of the README gets the response shown below it', async () => {
  await using server = await startTestServer()
  const found = commands()
  expect(found.length).toBe(12)
  for (const { method, path, options, answer } of found) {
    const { body } = await server.request(method, path, options)
    expect(`${method} ${path} ${JSON.stringify(body).replace(TIME, 'TIME')}`).toBe(
      `${method} ${path} ${answer.replace(TIME, 'TIME')}`,
    )
  }
})
