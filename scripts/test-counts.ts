import { readFileSync } from 'node:fs'

/** The fields used from Vitest's JSON report. */
type Report = {
  success: boolean
  numPassedTests: number
  numFailedTests: number
  testResults: { status: string; assertionResults: { status: string }[] }[]
}

/**
 * Sums Vitest's JSON reports.
 *
 * @param files one report per package with tests
 * @param hasSucceeded whether the whole run exited with code 0
 * @returns the numbers of passed and failed tests. A missing report, a test file that fails to load and a failure outside
 * the tests count as one failure each, and so does a run without tests.
 */
export function countTests(files: string[], hasSucceeded: boolean) {
  let passed = 0
  let failed = 0
  for (const file of files) {
    const report = readReport(file)
    passed += report?.numPassedTests ?? 0
    failed += report ? countFailures(report) : 1
  }
  if (failed === 0 && (!hasSucceeded || passed === 0)) failed = 1
  return { passed, failed }
}

function countFailures({ success, numFailedTests, testResults }: Report) {
  const broken = testResults.filter(
    ({ status, assertionResults }) =>
      status === 'failed' && !assertionResults.some(({ status }) => status === 'failed'),
  )
  return Math.max(numFailedTests + broken.length, success ? 0 : 1)
}

function readReport(file: string): Report | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}
