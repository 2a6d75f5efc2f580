import { join } from 'node:path'
import { root, run } from './run-command.mjs'

/** The tests of a package, or those of the scripts. */
export interface TestTask {
  name: string
  /** The path of Vitest's JSON report. */
  report: string
  /** @param options `quiet` as for `run`; `args` are Vitest's */
  run: (options: { args?: string[]; quiet?: boolean }) => ReturnType<typeof run>
}

// Those that take longest. The order of the others does not matter.
const LONGEST = ['@resource/server', '//', '@resource/console', '@resource/cli', '@resource/database']

/** Tests that run as several tasks, with the arguments of each. Those on PostgreSQL mostly wait. */
const PARTS: Record<string, string[][]> = {
  '@resource/server': [
    ['--project', 'sqlite'],
    ['--project', 'postgresql', '--maxWorkers', '1'],
  ],
}

/** Builds what the tests need. Afterwards no task may write these files, which the tests read. */
export function buildForTests({ quiet = false } = {}) {
  return run('turbo', ['run', 'generate', 'build', 'peers', '--output-logs=errors-only'], { quiet })
}

/**
 * The tests of all packages and of the scripts, the longest first.
 *
 * @param options `all` includes the slow tests
 */
export async function testTasks({ all }: { all: boolean }): Promise<TestTask[]> {
  const plan = await run('turbo', ['run', 'test', 'test:scripts', '--dry=json'], { quiet: true })
  const { tasks } = JSON.parse(plan.stdout) as {
    tasks: { task: string; package: string; command: string; directory: string }[]
  }
  const position = (name: string) => (LONGEST.includes(name) ? LONGEST.indexOf(name) : LONGEST.length)
  return tasks
    .filter(({ task, command }) => task.startsWith('test') && command !== '<NONEXISTENT>')
    .sort((a, b) => position(a.package) - position(b.package))
    .flatMap((task) => ((all && PARTS[task.package]) || [[]]).map((part) => ({ ...task, part })))
    .map(({ task, package: name, directory, part }) => ({
      name: ['tests of', name === '//' ? 'scripts' : name.replace('@resource/', ''), ...part.slice(1, 2)].join(' '),
      report: join(root, directory, reportOf(part)),
      run: ({ args = [], quiet = false }) => {
        const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${reportOf(part)}`]
        const vitest = [...reporters, ...part, ...args]
        if (!all) vitest.push('--exclude', '**/*.slow.test.ts', '--passWithNoTests')
        // apps/server/vitest.config.ts reads the variable: projects of Vitest ignore `--exclude`.
        const env = all ? {} : { VITEST_QUICK: '1' }
        return run('turbo', ['run', task, `--filter=${name}`, '--only', '--', ...vitest], { env, quiet })
      },
    }))
}

function reportOf([, project]: string[]): string {
  return join('.turbo', project === undefined ? 'vitest.json' : `vitest-${project}.json`)
}

/** Runs jobs in their order, at most `lanes` at a time. */
export async function runInLanes<T>(lanes: number, jobs: (() => Promise<T>)[]): Promise<T[]> {
  const results: T[] = []
  const waiting = jobs.entries()
  const work = async () => {
    for (const [index, job] of waiting) results[index] = await job()
  }
  await Promise.all(Array.from({ length: lanes }, work))
  return results
}
