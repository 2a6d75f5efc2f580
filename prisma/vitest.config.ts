import { defineConfig } from 'vitest/config'

// Some tests stop and start a PostgreSQL server of their own.
export default defineConfig({
  test: { globalSetup: '@resource/postgres-test/vitest', testTimeout: 60_000, expect: { poll: { timeout: 20_000 } } },
})
