import { readFileSync } from 'node:fs'

/** What is read of Vitest's JSON report. */
type Report = {
  success: boolean
  numPassedTests: number
  numFailedTests: number
  testResults: { status: string; assertionResults: { status: string }[] }[]
}

/**
 * Sums Vitest's JSON reports.
 *
 * @param files one report per package that has tests
 * @param ended whether the run as a whole ended with exit code 0
 * @returns the tests passed and failed. A package without a report, a file that could not be loaded and a failure
 * outside any test count as one failed each; so does a run in which nothing was tested.
 */
export function countTests(files: string[], ended: boolean) {
  let passed = 0
  let failed = 0
  for (const file of files) {
    const report = readReport(file)
    passed += report?.numPassedTests ?? 0
    failed += report ? countFailures(report) : 1
  }
  if (failed === 0 && (!ended || passed === 0)) failed = 1
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
