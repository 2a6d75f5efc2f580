import type { Engine } from './engines/engine.ts'
import { Load } from './load.ts'
import type { Program } from './programs.ts'
import { startServer } from './server.ts'
import { table } from './table.ts'
import { type Target, works } from './works.ts'

const STEPS = 20
const MOST_GROWTH = 0.1
// What a service does all day; bulk creates would tell more of their own size than of what stays.
const MIX = ['get', 'list', 'create', 'update', 'trpc-get']

/**
 * What a program holds in memory while it answers `requests` of mixed work, a twentieth at a time.
 *
 * @returns Markdown
 */
export async function soak(
  engine: Engine,
  program: Program,
  rows: number,
  requests: number,
  core: number | undefined,
): Promise<string> {
  await using copy = await engine.copy(rows, program.name)
  await using server = await startServer(program, copy.url, core)
  const mix = works.filter(({ name, isFor }) => MIX.includes(name) && isFor(program))
  const load = new Load(server.url, Math.max(...mix.map(({ connections }) => connections)))
  const target: Target = { program, rows }
  const megabytes = async () => Math.round((await server.usage()).memory / 1e6)
  const held = [await megabytes()]
  let n = 0
  try {
    for (let step = 1; step <= STEPS; step++) {
      for (const [i, work] of mix.entries()) {
        const end = Math.round((requests / STEPS) * (step - 1 + (i + 1) / mix.length))
        await load.run(
          () => work.ask(n++, target),
          work.status,
          work.connections,
          () => n < end,
        )
      }
      await copy.trim()
      held.push(await megabytes())
    }
  } finally {
    await load.close()
  }
  const half = held[STEPS / 2] as number
  const growth = Math.max(...held.slice(STEPS / 2)) / half - 1
  const lines = held.map((memory, step) => [Math.round((requests / STEPS) * step).toLocaleString('en'), String(memory)])
  const verdict = `Most in the second half against half-way: ${(growth * 100).toFixed(0)} % more (under ${MOST_GROWTH * 100} %) ${growth < MOST_GROWTH ? 'yes' : '**no**'}`
  return `${program.name}, ${engine.name}, ${rows.toLocaleString('en')} rows\n\n${table(['Requests', 'Resident, MB'], lines)}\n\n${verdict}\n`
}
