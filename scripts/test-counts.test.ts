import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from './run-command.mjs'
import { countTests, describeFailures } from './test-counts.ts'

const reportOf = (...statuses: string[]) => ({
  success: !statuses.includes('failed'),
  numPassedTests: statuses.filter((status) => status === 'passed').length,
  numFailedTests: statuses.filter((status) => status === 'failed').length,
  testResults: [
    {
      status: statuses.includes('failed') ? 'failed' : 'passed',
      assertionResults: statuses.map((status) => ({ status })),
    },
  ],
})

function writeReports(...reports: object[]) {
  const directory = mkdtempSync(join(tmpdir(), 'reports-'))
  return reports.map((report, index) => {
    const file = join(directory, `${index}.json`)
    writeFileSync(file, JSON.stringify(report))
    return file
  })
}

test('counts are summed over all packages', () => {
  const files = writeReports(reportOf('passed', 'passed'), reportOf('passed', 'failed', 'pending'))
  expect(countTests(files, false)).toEqual({ passed: 3, failed: 1 })
})

test('a package without a report counts as one failure', () => {
  const files = [...writeReports(reportOf('passed')), '/nowhere/vitest.json']
  expect(countTests(files, false)).toEqual({ passed: 1, failed: 1 })
})

test('a test file that fails to load counts as one failure', () => {
  const broken = { status: 'failed', assertionResults: [] }
  const report = { ...reportOf('passed'), success: false, testResults: [broken, ...reportOf('passed').testResults] }
  expect(countTests(writeReports(report), false)).toEqual({ passed: 1, failed: 1 })
})

test('a failure outside the tests counts as one failure', () => {
  expect(countTests(writeReports({ ...reportOf('passed'), success: false }), false)).toEqual({ passed: 1, failed: 1 })
  expect(countTests(writeReports(reportOf('passed')), false)).toEqual({ passed: 1, failed: 1 })
})

test('a run without tests counts as one failure', () => {
  expect(countTests([], true)).toEqual({ passed: 0, failed: 1 })
})

test('each failure is described by its file, test and messages', () => {
  const name = join(root, 'prisma/src/a.test.ts')
  const failed = { status: 'failed', fullName: 'a record is kept', failureMessages: ['expected 1 to be 2'] }
  const testResults = [
    { name, status: 'failed', assertionResults: [{ status: 'passed', fullName: 'another' }, failed] },
    { name: join(root, 'prisma/src/b.test.ts'), status: 'failed', message: 'Cannot find module', assertionResults: [] },
  ]
  const files = writeReports({ ...reportOf('passed', 'failed'), testResults })
  expect(describeFailures([...files, join(root, 'apps/server/missing.json')])).toEqual([
    'prisma/src/a.test.ts > a record is kept\nexpected 1 to be 2',
    'prisma/src/b.test.ts\nCannot find module',
    'apps/server/missing.json: no report',
  ])
})
