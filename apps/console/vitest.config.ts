import { defineConfig } from 'vitest/config'

// Each test has its own browser context and service; the first test unpacks the browser.
export default defineConfig({
  test: { maxWorkers: '100%', testTimeout: 120_000, hookTimeout: 120_000, expect: { poll: { timeout: 60_000 } } },
})
