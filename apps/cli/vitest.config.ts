import { defineConfig } from 'vitest/config'

// Some tests start processes and mostly wait for them, and one imports 60,000 rows. The modules
// of the service take a second to load, and tests do not change them.
export default defineConfig({
  test: { maxWorkers: '100%', isolate: false, testTimeout: 120_000, expect: { poll: { timeout: 60_000 } } },
})
