import { defineConfig } from 'vitest/config'

// Tests that PgBouncer breaks: it hides the prepared statements of a connection and the number of connections.
// It also keeps server connections, so that changed defaults of the database do not apply.
const EXCLUDED = [
  'is named on every connection',
  'no longer has',
  'leaves no connection',
  'used last',
  'plans a page',
  'more connections than the pool',
  'there is never a third',
  'is canceled with',
  'keeps its connection',
  'of any length',
  'accepts no writes',
]

export default defineConfig({
  test: {
    globalSetup: '@resource/postgres-test/pgbouncer',
    testTimeout: 60_000,
    include: ['src/postgres/database.slow.test.ts'],
    testNamePattern: new RegExp(`^(?!.*(?:${EXCLUDED.join('|')}))`),
  },
})
