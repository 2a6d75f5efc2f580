import { afterAll, afterEach, beforeAll, test } from 'vitest'
import { type Clone, cleanClone } from './clone.ts'
import { runDerivedTests } from './derived-tests.ts'
import { changeWhileDeveloping } from './dev.ts'
import { useEveryFeature } from './every-feature.ts'

const timeout = 900_000

// One clone for all tests, because its installation and builds take a minute.
let clone: Clone
beforeAll(() => {
  clone = cleanClone()
}, timeout)
afterEach(() => void clone.reset(), timeout)
afterAll(() => clone?.[Symbol.dispose](), timeout)

test('npm run dev serves sample data and the console, and follows changes of the sources', { timeout }, () =>
  changeWhileDeveloping(clone),
)

test(
  'orders of the guide, and a resource with every feature of a declaration, work over REST, tRPC, client, console and command line',
  {
    timeout,
  },
  () => useEveryFeature(clone),
)

test(
  'the tests whose cases follow from the collections pass with any resource that npm run new adds',
  { timeout },
  () => runDerivedTests(clone),
)
