import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from './run-command.mjs'
import { resultsIn } from './test-results.ts'

const name = join(root, 'prisma/src/a.test.ts')
const passed = { status: 'passed', fullName: 'another' }
const failed = { status: 'failed', fullName: 'a record is kept', failureMessages: ['expected 1 to be 2'] }
const passing = {
  success: true,
  numPassedTests: 1,
  testResults: [{ name, status: 'passed', assertionResults: [passed] }],
}

function written(report: object): string {
  const file = join(mkdtempSync(join(tmpdir(), 'reports-')), 'vitest.json')
  writeFileSync(file, JSON.stringify(report))
  return file
}

test('passed tests are counted', () => {
  expect(resultsIn(written(passing), true)).toEqual({ passed: 1, failures: [] })
})

test('each failure is described by its file, test and messages', () => {
  const testResults = [
    { name, status: 'failed', assertionResults: [passed, failed] },
    { name: join(root, 'prisma/src/b.test.ts'), status: 'failed', message: 'Cannot find module', assertionResults: [] },
  ]
  expect(resultsIn(written({ success: false, numPassedTests: 1, testResults }), false)).toEqual({
    passed: 1,
    failures: [
      'prisma/src/a.test.ts > a record is kept\nexpected 1 to be 2',
      'prisma/src/b.test.ts\nCannot find module',
    ],
  })
})

test('a package without a report counts as one failure', () => {
  expect(resultsIn(join(root, 'apps/server/missing.json'), false)).toEqual({
    passed: 0,
    failures: ['apps/server/missing.json: no report'],
  })
})

test('a failure outside the tests counts as one failure', () => {
  const one = { passed: 1, failures: [expect.stringMatching(/vitest\.json: a failure outside of the tests$/)] }
  expect(resultsIn(written({ ...passing, success: false }), false)).toEqual(one)
  expect(resultsIn(written(passing), false)).toEqual(one)
})

test('a run without tests counts as one failure', () => {
  expect(resultsIn(written({ success: true, numPassedTests: 0, testResults: [] }), true)).toEqual({
    passed: 0,
    failures: [expect.stringMatching(/vitest\.json: no tests$/)],
  })
})
