import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { root } from './run-command.mjs'

/** The OpenAPI document of the current sources, as JSON text. */
export function printDocument() {
  return execFileSync(process.execPath, [join(root, 'apps/server/scripts/openapi.ts')], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}
