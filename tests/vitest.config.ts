import { defineConfig } from 'vitest/config'

// Clients that send a byte a second take their time, however fast the machine is.
export default defineConfig({ test: { testTimeout: 120_000 } })
