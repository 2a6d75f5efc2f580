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

/** An empty working folder for the service and its data; `await using` removes it. */
export async function temporaryFolder() {
  const path = await mkdtemp(join(tmpdir(), 'resource-process-'))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) }
}

/** Runs the service in `folder` as a separate process, like `pnpm start`; `await using` kills it. */
export function spawnService(folder: string, environment: Record<string, string> = {}) {
  // Set by vitest.config.ts, as `npm start` does.
  const { NODE_COMPILE_CACHE } = process.env
  const env = { NODE_COMPILE_CACHE, PORT: '0', ...environment }
  const child = spawn(process.execPath, [MAIN], { cwd: folder, env })
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

  /** The first log line that matches, now or once it is written. */
  const logged = (matches: (line: Line) => boolean) =>
    new Promise<Line>((resolve, reject) => {
      let seen = 0
      const look = () => {
        const line = lines
          .slice(seen)
          .map((text) => JSON.parse(text) as Line)
          .find(matches)
        seen = lines.length
        if (line === undefined && exit === undefined) return
        waiting.delete(look)
        if (line === undefined) reject(new Error(`exited without that line: ${exit?.stderr}`))
        else resolve(line)
      }
      waiting.add(look)
      look()
    })

  return {
    pid: child.pid as number,
    /** The log lines so far. */
    lines,
    exited,
    logged,
    /** The URL from the log. */
    url: async () => String((await logged(({ url }) => url !== undefined)).url),
    signal: (name: NodeJS.Signals) => child.kill(name),
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL')
      await exited
    },
  }
}
