import { spawnSync } from 'node:child_process'
import { cpus, release, totalmem, type } from 'node:os'

/** The hardware and operating system of the measurement. */
export function machine(): string {
  return `${cpus()[0]?.model.trim()}, ${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GiB, ${type()} ${release()}`
}

/** The measured commit, abbreviated. */
export function commit(): string {
  const { stdout } = spawnSync('git', ['rev-parse', '--short', 'HEAD'], {
    cwd: import.meta.dirname,
    encoding: 'utf8',
  })
  return stdout?.trim() || 'unknown'
}
