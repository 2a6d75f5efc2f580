// Makes a release: npm run release 2.0.0. Writes the version and the changelogs, commits them and tags the commit.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findChanges } from './openapi-changes.ts'
import { root, run } from './run-command.mjs'
import { dated, faultOf } from './version.ts'

const SNAPSHOT = 'packages/contract/openapi.snapshot.json'
// The contract's version is that of the service. The two published packages repeat it, as npm requires.
const MANIFESTS = ['contract', 'client', 'openapi'].map((name) => `packages/${name}/package.json`)
const CHANGELOGS = ['CHANGELOG.md', 'packages/client/CHANGELOG.md', 'packages/openapi/CHANGELOG.md']

const [version = ''] = process.argv.slice(2)
try {
  await release()
} catch (error) {
  console.error((error as Error).message)
  process.exitCode = 1
}

async function release(): Promise<void> {
  const { version: before } = JSON.parse(read(MANIFESTS[0] as string))
  if ((await git('status', '--porcelain')) !== '') throw new Error('There are uncommitted changes: commit them first.')
  const tag = await git('describe', '--tags', '--abbrev=0', '--match=v*').catch(() => undefined)
  const released = tag && JSON.parse(await git('show', `${tag}:${SNAPSHOT}`))
  const breaking = released ? findChanges(released, JSON.parse(read(SNAPSHOT))).filter(({ breaking }) => breaking) : []
  const fault = faultOf(version, before, breaking.length)
  if (fault !== undefined) throw new Error(fault)

  for (const path of MANIFESTS) edit(path, (text) => text.replace(`"version": "${before}"`, `"version": "${version}"`))
  const today = new Date().toISOString().slice(0, 10)
  for (const path of CHANGELOGS) edit(path, (text) => dated(text, version, today))
  // The example of an envelope.
  edit('README.md', (text) => text.replaceAll(`"version":"${before}"`, `"version":"${version}"`))
  const { code, output } = await run('node', ['scripts/openapi-snapshot.ts', '--write', '--quiet'], { quiet: true })
  if (code !== 0) throw new Error(output)
  await git('commit', '-qam', `Release ${version}`)
  await git('tag', '-a', `v${version}`, '-m', `Release ${version}`)
  console.log(`Committed and tagged v${version}. Next:
  npm run check
  git push --follow-tags
  npm run pack    # dist/*.tgz for npm publish`)
}

function edit(path: string, change: (text: string) => string): void {
  writeFileSync(join(root, path), change(read(path)))
}

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

async function git(...args: string[]): Promise<string> {
  const { code, output } = await run('git', args, { quiet: true })
  if (code !== 0) throw new Error(output.trim())
  return output.trim()
}
