import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { expect } from 'vitest'
import type { Clone } from './clone.ts'

// A path that is not the noun, a unique first field, narrow ranges, a choice that looks invalid; then a collection with a unique
// field and a text that may be null, and one with references only.
const RESOURCES = [
  "order-lines code:text:unique year:int:1900..1999 discount:decimal:0..0.5 'kind:visible|not-visible' user:ref:users",
  "labels name:text:unique 'note:text?'",
  'stops order_line:ref:orderLines:cascade label:ref:labels',
]

// The values of its own tests are allowed, but not those that are derived from the declaration.
const RULE = `import type { CollectionRules } from '../store/collection.ts'
import { invalid } from '../store/refusals.ts'

export const labelRules: CollectionRules<'labels'> = {
  check: ({ after }) => {
    if (after && !/^(?:L-|First$|Second$)/.test(after.name)) throw invalid('name', 'must begin with L-')
  },
}
`
const SAMPLE = 'labels: { record: (_, n) => ({ name: "L-" + n }) },'

/** Adds unusual resources, and runs the tests whose cases follow from the collections. */
export function runDerivedTests(clone: Clone): void {
  for (const [index, resource] of RESOURCES.entries()) {
    // The first installs what is missing.
    clone.run(`${index === 0 ? 'npm run new' : 'node scripts/new/main.ts'} ${resource}`)
  }
  const run = (names: string, filter = '') => {
    const files = names.split(' ').map((name) => `test/${name}.test.ts`)
    // One process: to load the service takes longer than a test.
    clone.run(
      `cd apps/server && npx --no-install vitest run --project sqlite --maxWorkers 1 ${files.join(' ')} ${filter}`,
    )
  }
  const edit = (path: string, change: (text: string) => string) =>
    writeFileSync(join(clone.folder, path), change(readFileSync(join(clone.folder, path), 'utf8')))
  const seed = (name: string) =>
    clone.run(`node apps/server/scripts/seed/main.ts --database file:./data/${name}.db --count 3 2>&1 || true`)

  // A rule that refuses every generated record of one collection.
  edit('apps/server/src/labels/rules.ts', () => RULE)
  expect(seed('refused')).toContain(`orderLines: 3 created
labels: 0 created. labels[0].name: must begin with L-
  Describe records that the service accepts for labels in packages/contract/src/samples/samples.ts.
stops: 0 created. label_id refers to labels, which has no records
`)
  const failed = failureOf(() => run('conventions errors samples', "-t 'generated|item|[oO]rder-?[lL]ine'"))
  expect(failed).toMatch(/Test Files .*1 failed.* 2 passed/)
  expect(failed).toMatch(/FAIL .*samples\.test\.ts/)

  edit('packages/contract/src/samples/samples.ts', (text) => text.replace(/(?=^ {2}users: \{$)/m, SAMPLE))
  expect(seed('sampled')).toContain('orderLines: 3 created\nlabels: 3 created\nstops: 3 created\n')
  // Of the files with a case for each collection or operation, the cases of the added resources are enough.
  const all = 'order-lines labels stops access-matrix.slow audit.slow compiled-schemas conventions samples seed'
  run(all, "-t '[oO]rder[- ]?[lL]ine|[lL]abel|[sS]top|completely|same believable records|generated'")
}

/** What the command that fails prints. */
function failureOf(command: () => unknown): string {
  try {
    command()
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string }
    return stripVTControlCharacters(stdout + stderr)
  }
  throw new Error('The command did not fail.')
}
