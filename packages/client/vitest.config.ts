import { defineConfig } from 'vitest/config'

// Each test file builds the package.
export default defineConfig({ test: { fileParallelism: false } })
