import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url))

type Line = Record<string, unknown> & { msg: string }

export interface Exit {
  code: number | null
  stderr: string
}

/** An empty folder to run the service in, with its data below it; `await using` removes it. */
export async function temporaryFolder() {
  const path = await mkdtemp(join(tmpdir(), 'resource-process-'))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) }
}

/** The service as a process of its own, as `pnpm start` runs it, in `folder`; `await using` kills what still runs. */
export function spawnService(folder: string, environment: Record<string, string> = {}) {
  const child = spawn(process.execPath, [MAIN], { cwd: folder, env: { PORT: '0', ...environment } })
  const lines: string[] = []
  const waiting = new Set<() => void>()
  let stderr = ''
  let exit: Exit | undefined
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line)
    for (const look of waiting) look()
  })
  const exited = once(child, 'close').then(([code]: (number | null)[]): Exit => {
    exit = { code: code ?? null, stderr }
    for (const look of waiting) look()
    return exit
  })

  /** The first line of the log that fits, now or once it is written. */
  const logged = (fits: (line: Line) => boolean) =>
    new Promise<Line>((resolve, reject) => {
      const look = () => {
        const line = lines.map((text) => JSON.parse(text) as Line).find(fits)
        if (line === undefined && exit === undefined) return
        waiting.delete(look)
        if (line === undefined) reject(new Error(`ended without that line: ${exit?.stderr}`))
        else resolve(line)
      }
      waiting.add(look)
      look()
    })

  return {
    /** The log so far, line by line. */
    lines,
    exited,
    logged,
    /** The address from the log. */
    url: async () => String((await logged(({ url }) => url !== undefined)).url),
    signal: (name: NodeJS.Signals) => child.kill(name),
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL')
      await exited
    },
  }
}
