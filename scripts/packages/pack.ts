// `npm run pack` packs the published packages to dist.
import { copyFile, mkdir } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { root, run } from '../run-command.mjs'

/**
 * Packs the published packages.
 *
 * @param folder created if missing
 * @returns paths of the tarballs
 */
export async function pack(folder: string): Promise<string[]> {
  await mkdir(folder, { recursive: true })
  const openapi = join(folder, 'resource-openapi.tgz')
  await execute('pnpm', ['--dir', join(root, 'packages/openapi'), 'pack', '--out', openapi])
  // Packed by its build, which turbo repeats only after a change of its sources.
  const client = join(folder, 'resource-client.tgz')
  await execute('turbo', ['run', 'build', '--filter=@resource/client'])
  await copyFile(join(root, 'packages/client/tarball/resource-client.tgz'), client)
  return [openapi, client]
}

async function execute(command: string, args: string[]): Promise<void> {
  const { code, output } = await run(command, args, { quiet: true })
  if (code !== 0) throw new Error(output)
}

if (import.meta.main) for (const tarball of await pack(join(root, 'dist'))) console.log(relative(root, tarball))
