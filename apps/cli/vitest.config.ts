import { defineConfig } from 'vitest/config'

// Some tests start processes and mostly wait for them, and one imports 100,000 rows.
export default defineConfig({
  test: { maxWorkers: '100%', testTimeout: 120_000, expect: { poll: { timeout: 60_000 } } },
})
