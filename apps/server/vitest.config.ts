import { fileURLToPath } from 'node:url'
import { configDefaults, defineConfig } from 'vitest/config'

// Processes that tests start inherit it, as `npm start` sets it: without compiling its modules a program starts twice as fast.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('../../node_modules/.cache/node', import.meta.url))

// Tests that do not depend on the database engine, and tests of SQLite only.
const notOnPostgres = [
  'access access-matrix access-passages access-startup admin-users agreement audit-rest call-stack checks client client-changes',
  'client-chaos client-contract client-idempotency client-package client-react client-retries collection-tests compiled-schemas',
  'config connections console conventions edge-cases copies envelope field-access hashing header-fields headers health',
  'http-methods keyring limits log monitoring-burst moved-database nginx openapi-30 origins page pages',
  'password-queue passwords process proposer quota readme recent redos refused-reads request-queue rest-snippets row-mapping',
  'rules samples security seed sign-in slow-clients sqlite summary-cache testing timestamp tokens tracing',
  'uncaught-errors unavailable user-apis workers write-turns',
].flatMap((names) => names.split(' '))
// `npm test` sets this variable, `npm run check` does not.
const isQuick = process.env.VITEST_QUICK === '1'
const without = (names: string[]) => [
  ...configDefaults.exclude,
  ...names.map((name) => `test/${name}{,.slow}.test.ts`),
  ...(isQuick ? ['**/*.slow.test.ts'] : []),
]
const postgresql = {
  name: 'postgresql',
  // Set by hand: through PgBouncer in transaction mode, by two services in turn (test/harness.ts).
  globalSetup: `@resource/postgres-test/${process.env.VITEST_PGBOUNCER === '1' ? 'pgbouncer' : 'vitest'}`,
  exclude: without(notOnPostgres),
}

export default defineConfig({
  // openapi-typescript needs the JavaScript API of the compiler, which TypeScript 7 no longer has.
  resolve: { alias: { typescript: 'typescript-5' } },
  test: {
    server: { deps: { inline: ['openapi-typescript'] } },
    // With four, each test takes twice as long, and all of them together as long as with two.
    maxWorkers: 2,
    // The modules of the service take a second to load. Tests do not change them, and each has a service of its own.
    isolate: false,
    // On a busy machine processes start slowly and queues are long, which is not a defect.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    projects: [
      {
        extends: true,
        test: { name: 'sqlite', exclude: without(['failover', 'lock-order', 'pgbouncer', 'postgresql']) },
      },
      ...(isQuick ? [] : [{ extends: true as const, test: postgresql }]),
    ],
  },
})
