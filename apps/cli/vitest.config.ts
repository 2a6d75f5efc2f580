import { defineConfig } from 'vitest/config'

// The tests start processes, and one imports 100,000 rows.
export default defineConfig({ test: { testTimeout: 120_000, expect: { poll: { timeout: 60_000 } } } })
