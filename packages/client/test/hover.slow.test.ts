import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { contract } from '@resource/contract'
import { API } from 'typescript/unstable/sync'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { home, installed, run, tsc } from './package.ts'

const procedures = Object.entries(contract).flatMap(([noun, { procedures }]) =>
  Object.entries(procedures).map(([verb, procedure]) => ({
    noun,
    verb,
    call: `client.${noun}.${verb}.${procedure.type === 'query' ? 'query' : 'mutate'}`,
    summary: procedure.meta.openapi.summary,
  })),
)

const PROGRAM = `import { createClient } from '@resource/client'
export const client = createClient({ baseUrl: 'http://127.0.0.1:3000' })
${procedures.map(({ call }) => `${call}\n`).join('')}`

async function writeProgram(project: string) {
  await writeFile(join(project, 'program.ts'), PROGRAM)
  const options = { extends: join(home, '..', '..', 'tsconfig.base.json'), include: ['program.ts'] }
  await writeFile(join(project, 'tsconfig.json'), JSON.stringify(options))
}

/** The documentation that an editor shows for each procedure. */
function documentation(project: string) {
  const api = new API()
  try {
    const config = join(project, 'tsconfig.json')
    const file = join(project, 'program.ts')
    const snapshot = api.updateSnapshot({ openProjects: [config] })
    const checker = snapshot.getProject(config)?.checker
    return procedures.map(({ noun, verb, call }) => {
      const at = PROGRAM.indexOf(`${call}\n`) + `client.${noun}.`.length
      const symbol = checker?.getSymbolAtPosition(file, at)
      return `${noun}.${verb}: ${symbol && checker?.getDocumentationCommentOfSymbol(symbol)}`
    })
  } finally {
    api.close()
  }
}

let published: Awaited<ReturnType<typeof installed>>
beforeAll(async () => {
  published = await installed()
  await writeProgram(published.project)
}, 180_000)
afterAll(() => published?.[Symbol.asyncDispose]())

test('a published procedure shows its documentation on hover, starting with its summary', {
  timeout: 180_000,
}, async () => {
  const shown = documentation(published.project)
  expect(shown.length).toBeGreaterThanOrEqual(28)
  procedures.forEach(({ noun, verb, summary }, index) => {
    expect(shown[index]).toMatch(new RegExp(`^${noun}\\.${verb}: ${summary}\\.`))
  })
})

test('a program that uses every procedure needs few type instantiations', { timeout: 180_000 }, async () => {
  const { stdout } = await run(process.execPath, [tsc, '-p', published.project, '--extendedDiagnostics'])
  const count = Number(/Instantiations:\s+(\d+)/.exec(stdout)?.[1])
  expect(count).toBeGreaterThan(0)
  expect(count).toBeLessThan(LIMIT)
})

// Room for six more resources with rules, with which it is some 2,650; the present ones take some 1,050.
const LIMIT = 3_000
