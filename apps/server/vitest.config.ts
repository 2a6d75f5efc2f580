import { configDefaults, defineConfig } from 'vitest/config'

// What is the same whichever engine there is behind it, and what only SQLite can do.
const notOnPostgres =
  'access-process agreement client-chaos client-contract client-react compiled compose config connections console docs health line nginx page pages process readme redos rest-clients rounds row-mapping'
    .concat(' sqlite testing timestamp turns unexpected waiting-clients way workers')
    .split(' ')
const without = (names: string[]) => [...configDefaults.exclude, ...names.map((name) => `test/${name}.test.ts`)]

export default defineConfig({
  // openapi-typescript draws its types with the compiler's JavaScript API, which TypeScript 7 no longer has.
  resolve: { alias: { typescript: 'typescript-5' } },
  test: {
    server: { deps: { inline: ['openapi-typescript'] } },
    // Vitest leaves one core free for watching; these tests wait for servers and disks more than they compute.
    maxWorkers: '100%',
    // Whatever starts, or waits for its turn, takes as long as the machine is busy, which is no defect.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    projects: [
      { extends: true, test: { name: 'sqlite', exclude: without(['postgresql', 'replicas']) } },
      {
        extends: true,
        test: {
          name: 'postgresql',
          globalSetup: '@resource/postgres-test/vitest',
          exclude: without(notOnPostgres),
        },
      },
    ],
  },
})
