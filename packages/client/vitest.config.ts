import { defineConfig } from 'vitest/config'

// Each test file may build the package, and some tests run the compiler.
export default defineConfig({ test: { fileParallelism: false, testTimeout: 60_000 } })
