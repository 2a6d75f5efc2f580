// Fails when the OpenAPI document differs from the committed snapshot, and lists breaking and compatible changes.
// With --write it updates the snapshot, with --quiet without the list, which takes as long as the rest. Then it checks or
// updates the contract's hash in the same way: a second process would load the contract again.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { createDocument } from '../apps/server/src/document.ts'
import { type Change, findChanges } from './openapi-changes.ts'
import { root } from './run-command.mjs'

const name = 'packages/contract/openapi.snapshot.json'
const file = join(root, name)
const current = JSON.parse(JSON.stringify(createDocument()))

if (process.argv.includes('--write')) {
  if (!process.argv.includes('--quiet')) compare()
  writeFileSync(file, `${JSON.stringify(current, null, 2)}\n`)
} else if (!compare()) {
  console.error(`\n${name} is out of date.`)
  console.error('If the changes are intended, run npm run openapi:write and commit the file.')
  process.exitCode = 1
}
await import('../packages/contract/scripts/hash.ts')

/** Returns whether the snapshot is up to date; prints the differences if not. */
function compare() {
  if (!existsSync(file)) return false
  const committed = JSON.parse(readFileSync(file, 'utf8'))
  if (isDeepStrictEqual(committed, current)) return true
  const changes = findChanges(committed, current)
  const breaking = changes.filter((change) => change.breaking)
  const compatible = changes.filter((change) => !change.breaking)
  if (breaking.length > 0) list('Breaking', breaking)
  if (compatible.length > 0) list('Compatible', compatible)
  if (changes.length === 0)
    console.error('No change for clients: only the order, or the names or places of components differ.')
  return false
}

function list(title: string, changes: Change[]) {
  console.error(`${title} (${changes.length}):`)
  for (const { path, before, after } of changes) {
    console.error(`  #/${path.map(escapeKey).join('/')}: ${show(before)} -> ${show(after)}`)
  }
}

/** Escapes a key for a JSON Pointer (RFC 6901). */
function escapeKey(key: string) {
  return key.replaceAll('~', '~0').replaceAll('/', '~1')
}

function show(value: unknown) {
  if (value === undefined) return '(none)'
  const text = JSON.stringify(value)
  return text.length > 80 ? `${text.slice(0, 79)}…` : text
}
