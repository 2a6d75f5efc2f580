import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { delimiter, join, resolve } from 'node:path'

export const root = resolve(import.meta.dirname, '..')

/** The exit code of a check that could not be made, for want of a tool or an answer: sysexits' EX_TEMPFAIL. */
export const NOT_CHECKED = 75

/**
 * Puts the repository's own Node and tools first, keeps every tool from reporting or asking home, and pnpm from looking
 * for its own version: scripts/run.mjs has chosen it.
 */
export const environment = {
  ...process.env,
  PATH: join(root, 'node_modules', '.bin') + delimiter + process.env.PATH,
  CHECKPOINT_DISABLE: '1',
  DO_NOT_TRACK: '1',
  pnpm_config_pm_on_fail: 'ignore',
  REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
  REDOCLY_TELEMETRY: 'off',
  TURBO_TELEMETRY_DISABLED: '1',
}

/** @type {import('node:child_process').ChildProcess | undefined} */
let child
/** @type {NodeJS.Signals | undefined} */
let received

/** @param {NodeJS.Signals} signal */
function stop(signal) {
  if (received) return
  received = signal
  child?.kill(signal)
}

// npm hands on a signal that a terminal has already sent to the whole group, so it may come twice: the first counts.
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) process.on(signal, stop)

// npm keeps SIGHUP and SIGKILL to itself: when it is gone, what it started goes too.
if (process.env.npm_lifecycle_event) {
  const npm = process.ppid
  setInterval(() => process.ppid !== npm && stop('SIGTERM'), 1000).unref()
}

/**
 * Runs one command in the repository's root to its end. A signal that comes meanwhile is passed on to it, once.
 *
 * @param {string} command
 * @param {string[]} args
 * @param {{ quiet?: boolean, env?: NodeJS.ProcessEnv }} [options] `quiet` keeps the output back, without stdin.
 * @returns {Promise<{ code: number, stdout: string, output: string }>} The exit code (128 + n after signal n), and what
 * was kept back: of stdout, of stdout and stderr.
 */
export function run(command, args, { quiet = false, env = {} } = {}) {
  if (received) return Promise.resolve({ code: 128 + constants.signals[received], stdout: '', output: '' })
  return new Promise((done, fail) => {
    child = spawn(command, args, {
      cwd: root,
      env: { ...environment, ...env },
      stdio: quiet ? ['ignore', 'pipe', 'pipe'] : 'inherit',
      shell: process.platform === 'win32',
    })
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
      done({ code: code ?? 128 + constants.signals[signal ?? 'SIGTERM'], stdout, output })
    })
  })
}

/** Whether a signal asked this process to stop. */
export const stopping = () => received !== undefined
