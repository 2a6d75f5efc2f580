import { defineConfig } from 'vitest/config'

export default defineConfig({
  // openapi-typescript draws its types with the compiler's JavaScript API, which TypeScript 7 no longer has.
  resolve: { alias: { typescript: 'typescript-5' } },
  test: {
    server: { deps: { inline: ['openapi-typescript'] } },
    // Vitest leaves one core free for watching; these tests wait for servers and disks more than they compute.
    maxWorkers: '100%',
    testTimeout: 30_000,
  },
})
