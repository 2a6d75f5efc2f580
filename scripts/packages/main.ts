// Packs the published packages: `npm run pack`.
import { join, relative } from 'node:path'
import { root } from '../run-command.mjs'
import { pack } from './pack.ts'

for (const tarball of await pack(join(root, 'dist'))) console.log(relative(root, tarball))
