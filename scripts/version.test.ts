import { expect, test } from 'vitest'
import { dated, faultOf } from './version.ts'

test.each([
  ['1.2.4', '1.2.3', 0],
  ['1.10.0', '1.9.9', 0],
  ['2.0.0', '1.9.9', 3],
])('%s can follow %s', (version, before, breaking) => {
  expect(faultOf(version, before, breaking)).toBeUndefined()
})

test.each([
  ['', '1.0.0', 0, '"" must be a version such as 2.0.0: npm run release 2.0.0'],
  ['v2.0.0', '1.0.0', 0, '"v2.0.0" must be a version such as 2.0.0: npm run release 2.0.0'],
  ['2.0', '1.0.0', 0, '"2.0" must be a version such as 2.0.0: npm run release 2.0.0'],
  ['1.0.0', '1.0.0', 0, '1.0.0 must be above 1.0.0.'],
  ['1.9.0', '1.10.0', 0, '1.9.0 must be above 1.10.0.'],
  ['1.1.0', '1.0.0', 1, 'The API has 1 breaking change since the last release, so the version must be at least 2.0.0.'],
  [
    '1.0.1',
    '1.0.0',
    2,
    'The API has 2 breaking changes since the last release, so the version must be at least 2.0.0.',
  ],
])('"%s" cannot follow %s with %d breaking changes', (version, before, breaking, message) => {
  expect(faultOf(version, before, breaking)).toBe(message)
})

test('a release gives the unreleased changes its version and day', () => {
  const before = '# Changes\n\n## Unreleased\n\n- New.\n\n## 1.0.0\n\n- First.\n'
  expect(dated(before, '2.0.0', '2026-11-26')).toBe(
    '# Changes\n\n## Unreleased\n\n## 2.0.0 (2026-11-26)\n\n- New.\n\n## 1.0.0\n\n- First.\n',
  )
})

test('a changelog without unreleased changes stays as it is', () => {
  const before = '# Changes\n\n## Unreleased\n\n## 1.0.0\n\n- First.\n'
  expect(dated(before, '2.0.0', '2026-11-26')).toBe(before)
})
