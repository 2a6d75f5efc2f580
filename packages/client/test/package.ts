import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

export const run = promisify(execFile)
export const home = fileURLToPath(new URL('..', import.meta.url))
const root = join(home, '..', '..', 'node_modules')
export const tsc = join(root, 'typescript', 'bin', 'tsc')
const turbo = join(root, '.bin', 'turbo')
const tarball = join(home, 'tarball', 'resource-client.tgz')

/** A project with the published form of the client installed; `await using` removes it. */
export async function installed() {
  const cache = join(home, 'node_modules', '.cache')
  await mkdir(cache, { recursive: true })
  const project = await mkdtemp(join(cache, 'installed-'))
  const modules = join(project, 'node_modules')
  await mkdir(join(modules, '@resource'), { recursive: true })
  // A separate package: without it, the import would resolve to the client's own package by self-reference.
  await writeFile(join(project, 'package.json'), '{ "name": "program", "type": "module" }')
  // Built again only after a change of its sources.
  await run(turbo, ['run', 'build', '--filter=@resource/client'], { cwd: home })
  await run('tar', ['-xzf', tarball], { cwd: project })
  await run('mv', [join(project, 'package'), join(modules, '@resource', 'client')])
  // The client's dependencies from the workspace, but no workspace package.
  for (const scope of ['@trpc', '@tanstack', '@types', 'eventsource-parser', 'react', 'zod']) {
    await symlink(join(home, 'node_modules', scope), join(modules, scope))
  }
  return {
    project,
    manifest: JSON.parse(await readFile(join(modules, '@resource', 'client', 'package.json'), 'utf8')),
    [Symbol.asyncDispose]: () => rm(project, { recursive: true, force: true }),
  }
}
