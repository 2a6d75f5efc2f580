import { defineConfig } from 'vitest/config'

// Each test drives a browser and a service of its own; the first one of all unpacks the browser.
export default defineConfig({
  test: { maxWorkers: '100%', testTimeout: 120_000, hookTimeout: 120_000, expect: { poll: { timeout: 60_000 } } },
})
