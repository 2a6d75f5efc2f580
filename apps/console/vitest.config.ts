import { defineConfig } from 'vitest/config'

// Each test has its own browser context and service; the first test unpacks the browser. Without isolation, the files that run in
// one worker share its browser and the process of its services.
export default defineConfig({
  test: {
    maxWorkers: '100%',
    isolate: false,
    // With five other programs per core, the longest tests take a minute.
    testTimeout: 240_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
  },
})
