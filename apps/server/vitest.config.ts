import { configDefaults, defineConfig } from 'vitest/config'

// What is the same whichever engine there is behind it.
const withoutDatabase = ['config', 'connections', 'console', 'docs', 'pages', 'process', 'readme']

export default defineConfig({
  // openapi-typescript draws its types with the compiler's JavaScript API, which TypeScript 7 no longer has.
  resolve: { alias: { typescript: 'typescript-5' } },
  test: {
    server: { deps: { inline: ['openapi-typescript'] } },
    // Vitest leaves one core free for watching; these tests wait for servers and disks more than they compute.
    maxWorkers: '100%',
    testTimeout: 30_000,
    projects: [
      { extends: true, test: { name: 'sqlite' } },
      {
        extends: true,
        test: {
          name: 'postgresql',
          globalSetup: '@resource/postgres-test/vitest',
          exclude: [...configDefaults.exclude, ...withoutDatabase.map((name) => `test/${name}.test.ts`)],
        },
      },
    ],
  },
})
