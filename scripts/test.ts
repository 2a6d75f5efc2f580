// Runs the tests of all packages: `npm test` those for every change, `npm test -- --all` all of them. Passes other arguments
// to Vitest.
import { buildForTests, runInLanes, testTasks } from './test-tasks.ts'

// The tests of apps/server take half of the time. Meanwhile the others run, two packages at a time.
const LANES = 3

const args = process.argv.slice(2)
const all = args.includes('--all')
const vitest = args.filter((argument) => argument !== '--all')

const build = await buildForTests()
const tasks = await testTasks({ all })
const ended = await runInLanes(
  LANES,
  tasks.map((task) => () => task.run({ args: vitest })),
)
process.exitCode = Math.max(build.code, ...ended.map(({ code }) => code))
if (!all)
  console.log('\nnpm run check runs in addition: the slow tests, those of apps/server on PostgreSQL, and the checks.')
