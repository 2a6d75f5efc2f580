import { defineConfig } from 'vitest/config'

// Long timeouts: some tests start and stop their own PostgreSQL server.
export default defineConfig({
  test: {
    globalSetup: '@resource/postgres-test/vitest',
    isolate: false,
    testTimeout: 120_000,
    expect: { poll: { timeout: 20_000 } },
  },
})
