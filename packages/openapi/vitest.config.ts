import { defineConfig } from 'vitest/config'

// The property tests send hundreds of requests, which take long on a slow machine.
export default defineConfig({ test: { isolate: false, testTimeout: 120_000, expect: { poll: { timeout: 60_000 } } } })
