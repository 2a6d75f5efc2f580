import { defineConfig } from 'vitest/config'

// Each file builds the package anew.
export default defineConfig({ test: { fileParallelism: false } })
