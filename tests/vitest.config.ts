import { defineConfig } from 'vitest/config'

// Clients that send one byte per second take the same time on any machine.
export default defineConfig({ test: { testTimeout: 120_000 } })
