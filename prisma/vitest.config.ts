import { defineConfig } from 'vitest/config'

export default defineConfig({ test: { globalSetup: '@resource/postgres-test/vitest' } })
