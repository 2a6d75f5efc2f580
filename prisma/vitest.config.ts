import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

// Processes that tests start inherit it: without compiling its modules a program takes a quarter of the CPU time to start.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('../node_modules/.cache/node', import.meta.url))

// Long timeouts: some tests start and stop their own PostgreSQL server.
export default defineConfig({
  test: {
    globalSetup: '@resource/postgres-test/vitest',
    isolate: false,
    testTimeout: 120_000,
    expect: { poll: { timeout: 20_000 } },
  },
})
