// `npm run pack` packs the published packages to dist.
import { mkdir } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { root, run } from '../run-command.mjs'

/** The published packages. */
const PACKAGES = ['openapi', 'client']

/**
 * Packs the published packages.
 *
 * @param folder created if missing
 * @returns paths of the tarballs
 */
export async function pack(folder: string): Promise<string[]> {
  await mkdir(folder, { recursive: true })
  const tarballs: string[] = []
  for (const name of PACKAGES) {
    const tarball = join(folder, `resource-${name}.tgz`)
    const args = ['--dir', join(root, 'packages', name), 'pack', '--out', tarball]
    const { code, output } = await run('pnpm', args, { quiet: true })
    if (code !== 0) throw new Error(output)
    tarballs.push(tarball)
  }
  return tarballs
}

if (import.meta.main) for (const tarball of await pack(join(root, 'dist'))) console.log(relative(root, tarball))
