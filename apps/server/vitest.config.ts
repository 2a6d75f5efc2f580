import { defineConfig } from 'vitest/config'

// Vitest leaves one core free for watching; these tests wait for servers and disks more than they compute.
export default defineConfig({ test: { maxWorkers: '100%' } })
