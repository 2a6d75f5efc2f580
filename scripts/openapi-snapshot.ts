// Fails when the OpenAPI document is no longer the committed one, and says which differences break callers.
// With --write the present document becomes the committed one.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { root } from './child.mjs'
import { type Change, findChanges } from './openapi-changes.ts'
import { printDocument } from './openapi-document.ts'

const name = 'packages/contract/openapi.snapshot.json'
const file = join(root, name)
const present = JSON.parse(printDocument())

if (process.argv.includes('--write')) {
  compare()
  writeFileSync(file, `${JSON.stringify(present, null, 2)}\n`)
} else if (!compare()) {
  console.error(`\n${name} is not the present document.`)
  console.error('If that is wanted: npm run openapi:write, and commit the file.')
  process.exitCode = 1
}

/** Whether the committed document is the present one; if not, tells the differences. */
function compare() {
  if (!existsSync(file)) return false
  const committed = JSON.parse(readFileSync(file, 'utf8'))
  if (isDeepStrictEqual(committed, present)) return true
  const changes = findChanges(committed, present)
  const breaking = changes.filter((change) => change.breaking)
  const compatible = changes.filter((change) => !change.breaking)
  if (breaking.length > 0) list('Breaking', breaking)
  if (compatible.length > 0) list('Compatible', compatible)
  if (changes.length === 0) console.error('No caller sees a difference: order, or components moved or renamed.')
  return false
}

function list(title: string, changes: Change[]) {
  console.error(`${title} (${changes.length}):`)
  for (const { place, before, after } of changes) {
    console.error(`  #/${place.map(escapeKey).join('/')}: ${show(before)} -> ${show(after)}`)
  }
}

/** JSON Pointer's escapes, RFC 6901. */
function escapeKey(key: string) {
  return key.replaceAll('~', '~0').replaceAll('/', '~1')
}

function show(value: unknown) {
  if (value === undefined) return 'nothing'
  const text = JSON.stringify(value)
  return text.length > 80 ? `${text.slice(0, 79)}…` : text
}
