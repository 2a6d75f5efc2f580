#!/usr/bin/env -S node --max-old-space-size=64 --max-semi-space-size=4
// JavaScript, because the Node.js of a checkout without installed packages may not run TypeScript.
import * as module from 'node:module'
import { fileURLToPath } from 'node:url'

// Later commands start in two thirds of the time. Like `npm start`, not in the system's temporary folder, which others
// can write to. Imports are hoisted, so the program is loaded by a dynamic one.
module.enableCompileCache?.(fileURLToPath(new URL('../../../node_modules/.cache/node', import.meta.url)))
// The reader may close the pipe early: `resource export … | head`.
process.stdout.on('error', (error) => process.exit(error.code === 'EPIPE' ? 0 : 1))
try {
  const { runCommand } = await import('./run.ts')
  process.exitCode = await runCommand(process.argv.slice(2))
} catch (error) {
  if (!['ERR_MODULE_NOT_FOUND', 'ERR_UNKNOWN_FILE_EXTENSION'].includes(error.code)) throw error
  process.stderr.write(`The packages of this checkout are not installed, or not completely. Run npm start, or:
  npx -y pnpm@12 install --frozen-lockfile
  npx -y pnpm@12 exec turbo run generate
`)
  process.exitCode = 1
}
