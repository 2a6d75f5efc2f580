import type { Engine } from './engines/engine.ts'
import { Load } from './load.ts'
import type { Program } from './programs.ts'
import { startServer } from './server.ts'
import { table } from './table.ts'
import { type Target, workloads } from './workloads.ts'

const STEPS = 20
const MAX_GROWTH = 0.1
// Typical requests. Bulk creates are excluded: their bodies would dominate the memory usage.
const MIX = ['get', 'list', 'create', 'update', 'trpc-get']

/**
 * Measures the resident memory of a program over `requests` mixed requests, after each twentieth of them.
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
  const mix = workloads.filter(({ name, appliesTo }) => MIX.includes(name) && appliesTo(program))
  const load = new Load(server.url, Math.max(...mix.map(({ connections }) => connections)))
  const target: Target = { program, rows }
  const megabytes = async () => Math.round((await server.usage()).memory / 1e6)
  const resident = [await megabytes()]
  let n = 0
  try {
    for (let step = 1; step <= STEPS; step++) {
      for (const [i, workload] of mix.entries()) {
        const end = Math.round((requests / STEPS) * (step - 1 + (i + 1) / mix.length))
        await load.run(
          () => workload.request(n++, target),
          workload.status,
          workload.connections,
          () => n < end,
        )
      }
      await copy.trim()
      resident.push(await megabytes())
    }
  } finally {
    await load.close()
  }
  const half = resident[STEPS / 2] as number
  const growth = Math.max(...resident.slice(STEPS / 2)) / half - 1
  const lines = resident.map((memory, step) => [
    Math.round((requests / STEPS) * step).toLocaleString('en'),
    String(memory),
  ])
  const verdict = `Peak of the second half relative to the midpoint: ${(growth * 100).toFixed(0)} % more (under ${MAX_GROWTH * 100} %) ${growth < MAX_GROWTH ? 'yes' : '**no**'}`
  return `${program.name}, ${engine.name}, ${rows.toLocaleString('en')} rows\n\n${table(['Requests', 'Resident memory, MB'], lines)}\n\n${verdict}\n`
}
