import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { countTests } from './test-counts.ts'

const ran = (...statuses: string[]) => ({
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

test('the counts of all packages are summed', () => {
  const files = writeReports(ran('passed', 'passed'), ran('passed', 'failed', 'pending'))
  expect(countTests(files, false)).toEqual({ passed: 3, failed: 1 })
})

test('a package that left no report has failed', () => {
  expect(countTests([...writeReports(ran('passed')), '/nowhere/vitest.json'], false)).toEqual({ passed: 1, failed: 1 })
})

test('a file that could not be loaded has failed', () => {
  const broken = { status: 'failed', assertionResults: [] }
  const report = { ...ran('passed'), success: false, testResults: [broken, ...ran('passed').testResults] }
  expect(countTests(writeReports(report), false)).toEqual({ passed: 1, failed: 1 })
})

test('a failure outside any test is a failure', () => {
  expect(countTests(writeReports({ ...ran('passed'), success: false }), false)).toEqual({ passed: 1, failed: 1 })
  expect(countTests(writeReports(ran('passed')), false)).toEqual({ passed: 1, failed: 1 })
})

test('a run without tests has failed', () => {
  expect(countTests([], true)).toEqual({ passed: 0, failed: 1 })
})
