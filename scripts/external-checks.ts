import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { environment, NOT_CHECKED, root, stopping } from './run-command.mjs'

/** A tool is missing, or a download failed: the check has not been made. */
class Unavailable extends Error {}

/** Makes the checks in turn and prints the outcome of each. Without one that could be made, the exit code is NOT_CHECKED. */
export async function makeChecks(checks: Record<string, () => Promise<unknown>>): Promise<void> {
  let made = 0
  for (const [name, check] of Object.entries(checks)) {
    if (stopping()) break
    const begin = performance.now()
    const outcome = await check().then(() => 'ok', describe)
    console.log(`${name}: ${outcome} (${((performance.now() - begin) / 1000).toFixed(1)} s)`)
    if (outcome.startsWith('FAILED')) process.exitCode = 1
    if (!outcome.startsWith('NOT CHECKED')) made++
  }
  // A stopped run has not checked everything.
  if (stopping()) process.exitCode = 1
  else if (made === 0) process.exitCode = NOT_CHECKED
}

function describe(error: Error & { stdout?: string }): string {
  if (error instanceof Unavailable) return `NOT CHECKED: ${error.message}`
  // The message contains stderr.
  return `FAILED\n${error.message}\n${error.stdout ?? ''}`
}

/** Runs a command, which asks no questions. Returns stdout; rejects with `stdout` and `stderr` if the exit code is not 0. */
export async function execute(command: string, args: string[], cwd: string, env = {}): Promise<string> {
  const options = {
    cwd,
    env: { ...environment, CI: 'true', NEXT_TELEMETRY_DISABLED: '1', ...env },
    maxBuffer: 64 * 1024 * 1024,
  }
  return (await promisify(execFile)(command, args, options)).stdout
}

/** @param argument makes the tool exit at once. @throws Unavailable if the tool is not installed */
export async function requireTool(command: string, argument: string): Promise<void> {
  await execute(command, [argument], root).catch(() => {
    throw new Unavailable(`${command} is not installed.`)
  })
}

/** Runs a command that only downloads or installs. @throws Unavailable with the first line of its output */
export async function download(command: string, args: string[], cwd: string, env = {}): Promise<void> {
  await execute(command, args, cwd, env).catch(({ stdout, stderr }: { stdout?: string; stderr?: string }) => {
    const [line = ''] = `${stderr}${stdout}`.trim().split('\n')
    throw new Unavailable(`${command} cannot download: ${line}`)
  })
}

/** Installs npm packages in a folder of their own. @returns its node_modules. @throws Unavailable */
export async function installModules(folder: string, ...packages: string[]): Promise<string> {
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'package.json'), '{ "private": true }')
  const flags = ['--no-save', '--no-package-lock', '--no-audit', '--no-fund']
  await download('npm', ['install', ...flags, '--prefix', folder, ...packages], folder)
  return join(folder, 'node_modules')
}

/** Installs Python packages in a folder of their own. @returns its Python. @throws Unavailable */
export async function createVenv(folder: string, ...packages: string[]): Promise<string> {
  const python = join(folder, 'bin', 'python')
  // With the pip of the system: its installation takes as long as that of the packages.
  await download('python3', ['-m', 'venv', '--without-pip', folder], root)
  const install = ['-m', 'pip', '--python', python, 'install', '--quiet', '--no-compile', '--disable-pip-version-check']
  await download('python3', [...install, ...packages], root)
  return python
}

/**
 * Starts a server, and ends it and its children when it is disposed of.
 *
 * @returns the first response of `url`
 * @throws Error if the server has ended or does not respond within a minute
 */
export async function startServer(
  url: string,
  command: string,
  args: string[],
  { cwd = root, env = {} }: { cwd?: string; env?: object } = {},
) {
  // A signal to a program alone does not reach the server that it starts, so both are in a group of their own.
  const server = spawn(command, args, {
    cwd,
    env: { ...environment, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
    detached: true,
  })
  const ended = once(server, 'exit')
  const end = async () => {
    if (server.exitCode === null) process.kill(-(server.pid as number))
    await ended
  }
  for (let tries = 0; ; tries++) {
    const response = await fetch(url).catch(() => undefined)
    if (response !== undefined) return { response, [Symbol.asyncDispose]: end }
    if (tries === 600 || server.exitCode !== null) {
      await end()
      throw new Error(`${url} does not respond`)
    }
    await sleep(100)
  }
}
