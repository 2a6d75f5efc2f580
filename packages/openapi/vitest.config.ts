import { defineConfig } from 'vitest/config'

// Hundreds of generated requests take as long as the machine is slow, which is no defect.
export default defineConfig({ test: { testTimeout: 120_000, expect: { poll: { timeout: 60_000 } } } })
