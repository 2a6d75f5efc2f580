import { execFileSync, spawn } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { root } from '../run-command.mjs'

export type Clone = ReturnType<typeof cleanClone>

/** Copies the files of the working tree to a new repository, without installed packages and build output. */
export function cleanClone() {
  const folder = mkdtempSync(join(tmpdir(), 'resource-clone-'))
  const env = {
    ...process.env,
    // What the checkout has generated from the same files is not generated again.
    TURBO_CACHE_DIR: join(root, '.turbo', 'cache'),
    // The same programs run up to ten times. Not in node_modules, which does not exist yet.
    NODE_COMPILE_CACHE: join(folder, '.git', 'compiled'),
  }
  const run = (command: string) => {
    try {
      return execFileSync('sh', ['-c', command], {
        cwd: folder,
        env,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
      })
    } catch (error) {
      if (error instanceof Error && 'stdout' in error) error.message += `\n${error.stdout}`
      throw error
    }
  }
  const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root })
  for (const file of files.toString().split('\0')) {
    if (file !== '' && existsSync(join(root, file))) cpSync(join(root, file), join(folder, file))
  }
  run('git init -q && git add -A && git -c user.name=test -c user.email=test@example.com commit -qm all')
  return {
    folder,
    run,
    changes: () => run('git status --porcelain --untracked-files=all').split('\n').filter(Boolean).sort(),
    /** Discards all changes and data; installed packages and build output remain. */
    reset: () => run('git checkout -q . && git clean -fdq && rm -rf data'),
    start: (command: string, settings: Record<string, string> = {}) =>
      startService(folder, command, { ...env, PORT: '0', ...settings }),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** Starts a command that serves on a free port until disposal. */
async function startService(cwd: string, command: string, env: NodeJS.ProcessEnv) {
  const child = spawn('sh', ['-c', command], {
    cwd,
    detached: true,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const closed = new Promise((done) => child.on('close', done))
  for await (const line of createInterface({ input: child.stdout })) {
    const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(line) ?? []
    if (url === undefined) continue
    child.stdout.resume()
    return {
      url,
      [Symbol.asyncDispose]: async () => {
        process.kill(-(child.pid as number), 'SIGTERM')
        await closed
      },
    }
  }
  throw new Error(`${command} exited without listening`)
}
