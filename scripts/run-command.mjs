// @ts-check
import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { delimiter, join, resolve } from 'node:path'

export const root = resolve(import.meta.dirname, '..')

/** Exit code of a check that could not run because a tool or a server is unavailable: EX_TEMPFAIL of sysexits. */
export const NOT_CHECKED = 75

/**
 * Puts the repository's Node.js and tools first in PATH, and disables telemetry and update checks. Disables pnpm's own
 * version check as well: scripts/run.mjs selects the version.
 */
export const environment = {
  ...process.env,
  PATH: join(root, 'node_modules', '.bin') + delimiter + process.env.PATH,
  CHECKPOINT_DISABLE: '1',
  DO_NOT_TRACK: '1',
  pnpm_config_pm_on_fail: 'ignore',
  TURBO_TELEMETRY_DISABLED: '1',
}

/** @type {Set<import('node:child_process').ChildProcess>} */
const children = new Set()
/** @type {NodeJS.Signals | undefined} */
let received

/** @param {NodeJS.Signals} signal */
function stop(signal) {
  if (received) return
  received = signal
  for (const child of children) child.kill(signal)
}

// npm forwards signals that a terminal has already sent to the whole process group. Only the first one counts.
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) process.on(signal, stop)

// npm does not forward SIGHUP and SIGKILL, so this polls for its exit.
if (process.env.npm_lifecycle_event) {
  const npm = process.ppid
  setInterval(() => process.ppid !== npm && stop('SIGTERM'), 1000).unref()
}

/**
 * Runs a command in the repository's root. Forwards the first signal to it.
 *
 * @param {string} command
 * @param {string[]} args
 * @param {{ quiet?: boolean, env?: NodeJS.ProcessEnv }} [options] `quiet` captures the output and closes stdin
 * @returns {Promise<{ code: number, stdout: string, output: string }>} The exit code (128 + n after signal n). With
 * `quiet` also stdout, and `output`: stdout and stderr combined.
 */
export function run(command, args, { quiet = false, env = {} } = {}) {
  if (received) return Promise.resolve({ code: 128 + constants.signals[received], stdout: '', output: '' })
  return new Promise((done, fail) => {
    const child = spawn(command, args, {
      cwd: root,
      env: { ...environment, ...env },
      stdio: quiet ? ['ignore', 'pipe', 'pipe'] : 'inherit',
      shell: process.platform === 'win32',
    })
    children.add(child)
    let stdout = ''
    let output = ''
    child.stdout?.setEncoding('utf8').on('data', (text) => {
      stdout += text
      output += text
    })
    child.stderr?.setEncoding('utf8').on('data', (text) => {
      output += text
    })
    child.on('error', fail)
    child.on('close', (code, signal) => {
      children.delete(child)
      done({ code: code ?? 128 + constants.signals[signal ?? 'SIGTERM'], stdout, output })
    })
  })
}

/** Whether this process has received a signal to stop. */
export const stopping = () => received !== undefined
