import { defineConfig } from 'vitest/config'

// What PgBouncer hides: the settings of a connection, its prepared statements, how many there are; and what the tests
// below prepare by settings that only later connections to the server have.
const HIDDEN = [
  'the time-outs of the settings',
  'goes by a name',
  'plans a page',
  'more connections than the pool',
  'is cut off',
  'keeps its connection',
  'of any length',
  'takes no writes',
]

export default defineConfig({
  test: {
    globalSetup: '@resource/postgres-test/pgbouncer',
    testTimeout: 60_000,
    include: ['src/postgres/database.test.ts'],
    testNamePattern: new RegExp(`^(?!.*(?:${HIDDEN.join('|')}))`),
  },
})
