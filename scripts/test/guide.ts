import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { openBrowser } from '../../packages/browser-test/src/browser.ts'
import { root } from '../run-command.mjs'
import type { Clone } from './clone.ts'

const isTaken = ['orders', 'lines'].some((noun) => existsSync(join(root, `packages/contract/src/${noun}.ts`)))

/** The text with other names than orders and lines if the project has its own. */
export function named(text: string): string {
  if (!isTaken) return text
  return text.replace(/(?<![a-z])(?:order(?!: \{)|line)/gi, (word) =>
    word.replace(/^./, (first) => `${first < 'a' ? 'Guide' : 'guide'}${first.toLowerCase()}`),
  )
}

const read = (path: string) => readFileSync(join(root, path), 'utf8')
const guide = named(read('docs/guides/add-a-resource.md'))
const blocksOf = (language: string) =>
  [...guide.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'gms'))].map(([, code = '']) => code)
const [add = '', copy = '', open = '', owned = '', remove = ''] = blocksOf('sh')

const NOUNS = ['lines', 'orders'].map(named).sort()
const FILES = ['packages/contract/src/orders.ts', 'apps/server/src/orders/rules.ts'].map(named)
const MIGRATIONS = ['compatible_add_orders', 'compatible_add_lines', 'add_note_to_orders'].map(named)
const INDEXES = ['orders_note_id_idx', 'orders_note_id_desc_idx'].map((name) => `compatible_${named(name)}`)
const VOLATILE = /\d{4}-\d\d-\d\dT[\d:.]+Z|rsk_\w+|rsk_…/g

/** The command without the steps of npm, which would have nothing to do. */
const direct = (command: string) => command.replace(/^npm run new( --)?/, 'node scripts/new/main.ts')

/** Adds orders and their lines as the guide does, without starting the service. */
export function addOrders(clone: Clone): void {
  // The first installs what is missing.
  for (const [index, command] of add.trim().split('\n').entries()) clone.run(index === 0 ? command : direct(command))
  expect(clone.changes().map((change) => change.replace(/\d{4}_/, 'NNNN_'))).toEqual([
    ' M apps/server/src/operations.ts',
    ' M packages/contract/openapi.snapshot.json',
    ' M packages/contract/src/hash.ts',
    ' M packages/contract/src/writable.ts',
    ' M prisma/schema.prisma',
    ...NOUNS.map((noun) => `?? apps/server/src/${noun}/rules.ts`),
    ...NOUNS.map((noun) => `?? apps/server/test/${noun}.test.ts`),
    ...NOUNS.map((noun) => `?? packages/contract/src/${noun}.ts`),
    ...[...MIGRATIONS, ...INDEXES, named('orders_search_idx')].map(
      (name) => `?? prisma/migrations/postgresql/NNNN_${name}/migration.sql`,
    ),
    ...MIGRATIONS.map((name) => `?? prisma/migrations/sqlite/NNNN_${name}/migration.sql`),
  ])
  for (const code of blocksOf('ts')) follow(clone, code)
  const [, , to = ''] = copy.trim().split(' ')
  edit(clone, to, () => named(read('docs/snippets/orders/lines.ts')))
  edit(clone, named('apps/server/test/orders.test.ts'), (cases) =>
    cases.replace(/refunded: [12]/g, 'refunded: 0').replace(/, 'refunded_gte=2': \[2\]/, ''),
  )
  const code = FILES.map((file) => readFileSync(join(clone.folder, file), 'utf8')).join('')
  expect(code.split('\n').length).toBeLessThanOrEqual(60)
  expect(code).not.toMatch(/\bas (?!const)/)
}

/** Writes a file of the guide, or adds lines to it after the first of them, which it has. */
function follow(clone: Clone, block: string) {
  const [, path = '', code = ''] = /^\/\/ (\S+)\n(.*)$/s.exec(block) ?? []
  const [first = ''] = code.split('\n')
  edit(clone, path, (before) => {
    if (code.startsWith('import ')) return code
    expect(before.split('\n')).toContain(first)
    return before.replace(`${first}\n`, () => code)
  })
}

function edit({ folder }: Clone, path: string, change: (text: string) => string) {
  writeFileSync(join(folder, path), change(readFileSync(join(folder, path), 'utf8')))
}

/** Runs the tests that the guide mentions. */
export function testOrders(clone: Clone): void {
  const files = NOUNS.map((noun) => `test/${noun}.test.ts`).join(' ')
  clone.run(`cd apps/server && npx --no-install vitest run --project sqlite --maxWorkers 1 ${files}`)
}

/** Sends the requests of the guide to an empty service. */
export const useOrders = (url: string) => send(url, open)

/** Sends the requests of an owner, after which the service requires a key. @returns that of the owner */
export const useOrdersOfOwner = (url: string) => send(url, owned)

/** Looks at the orders that the requests have made. */
export async function lookAtOrders(url: string): Promise<void> {
  const { paths } = JSON.parse(await (await fetch(`${url}/openapi.json`)).text())
  const expected = ['/orders', '/orders/{id}', '/orders/bulk', '/orders/{order_id}/lines'].map(named)
  expect(Object.keys(paths)).toEqual(expect.arrayContaining(expected))
  const browser = await openBrowser()
  try {
    const page = await browser.newPage()
    await page.goto(`${url}/console/${named('orders')}`)
    await page.getByRole('row', { name: /A-1.*paid.*49/i }).waitFor({ timeout: 60_000 })
    await page.getByRole('columnheader', { name: 'Total' }).waitFor()
  } finally {
    await browser.close()
  }
}

/** Removes lines again, but neither adds a field twice nor removes what lines refer to. */
export function removeLines(clone: Clone): void {
  const outputOf = (command: string) => clone.run(`${direct(command)} 2>&1 || true`)
  const [, , field = ''] = add.trim().split('\n')
  expect(outputOf(field)).toContain(named('orders: note already exists. Choose another name.\n'))
  expect(outputOf(remove.trim().replace(named('lines'), named('orders')))).toContain(
    named('orders: the model Line refers to it. Remove Line first.'),
  )
  clone.run(direct(remove))
  const traces = new RegExp(`\\b(?:${named('lines')}|${named('Line')})\\b`)
  expect(clone.changes().filter((change) => traces.test(change))).toEqual([])
  expect(clone.run('git diff')).not.toMatch(traces)
}

/** Sends the requests of curl commands, and compares the responses with those below. */
async function send(url: string, commands: string) {
  let key = ''
  const requests = [...commands.matchAll(/^curl (.*)\n# (.*)$/gm)]
  expect(requests.length).toBeGreaterThan(3)
  for (const [, request = '', expected = ''] of requests) {
    const [, path = ''] = /localhost:3000([^\s']*)/.exec(request) ?? []
    const [, body] = /--json '([^']*)'/.exec(request) ?? []
    const [, method = body === undefined ? 'GET' : 'POST'] = /-X (\w+)/.exec(request) ?? []
    const headers = {
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...(request.includes('rsk_…') && { Authorization: `Bearer ${key}` }),
    }
    const response = await fetch(url + path, { method, headers, ...(body !== undefined && { body }) })
    const answer = await response.text()
    const known = (text: string) => text.replace(VOLATILE, '…')
    expect([request, known(answer)]).toEqual([request, known(expected)])
    key = /rsk_\w+(?="}$)/.exec(answer)?.[0] ?? key
  }
  return key
}
