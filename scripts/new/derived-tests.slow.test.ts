import { test } from 'vitest'
import { cleanClone } from './clone.ts'

// A path that is not the noun, a unique first field, narrow ranges, a choice that looks invalid; then a collection whose only
// field is unique, and one with references only.
const RESOURCES = [
  "order-lines code:text:unique year:int:1900..1999 discount:decimal:0..0.5 'kind:visible|not-visible' user:ref:users",
  'labels name:text:unique',
  'stops order_line:ref:orderLines:cascade label:ref:labels',
]

test('the tests whose cases follow from the collections pass with any resource that npm run new adds', {
  timeout: 900_000,
}, () => {
  using clone = cleanClone()
  for (const resource of RESOURCES) clone.run(`npm run new ${resource}`)
  const run = (names: string, filter = '') => {
    const files = names.split(' ').map((name) => `test/${name}.test.ts`)
    clone.run(`cd apps/server && npx --no-install vitest run --project sqlite ${files.join(' ')} ${filter}`)
  }
  run('compiled-schemas seed order-lines labels stops')
  // Of the files with a case for each operation, those of the added resources are enough.
  run('access-matrix.slow audit.slow conventions', "-t '[oO]rder-?[lL]ine|[lL]abel|[sS]tops'")
})
