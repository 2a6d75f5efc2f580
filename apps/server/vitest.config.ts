import { configDefaults, defineConfig } from 'vitest/config'

// Tests that do not depend on the database engine, and tests of SQLite only.
const notOnPostgres =
  'access-passages access-startup agreement call-stack client-chaos client-contract client-react compiled-schemas compose'
    .concat(' config connections console delay-guard health linked-queue nginx page pages process readme redos')
    .concat(' rest-snippets row-mapping slow-clients sqlite summary-cache task-queue testing timestamp')
    .concat(' uncaught-errors workers')
    .split(' ')
// `npm test` sets this variable, `npm run check` does not.
const isQuick = process.env.VITEST_QUICK === '1'
const without = (names: string[]) => [
  ...configDefaults.exclude,
  ...names.map((name) => `test/${name}{,.slow}.test.ts`),
  ...(isQuick ? ['**/*.slow.test.ts'] : []),
]
const postgresql = {
  name: 'postgresql',
  globalSetup: '@resource/postgres-test/vitest',
  exclude: without(notOnPostgres),
}

export default defineConfig({
  // openapi-typescript needs the JavaScript API of the compiler, which TypeScript 7 no longer has.
  resolve: { alias: { typescript: 'typescript-5' } },
  test: {
    server: { deps: { inline: ['openapi-typescript'] } },
    // These tests mostly wait for servers and disks, and are the last to end.
    maxWorkers: 4,
    // On a busy machine processes start slowly and queues are long, which is not a defect.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    projects: [
      { extends: true, test: { name: 'sqlite', exclude: without(['postgresql', 'replicas']) } },
      ...(isQuick ? [] : [{ extends: true as const, test: postgresql }]),
    ],
  },
})
