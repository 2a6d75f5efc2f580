import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { root } from './run-command.mjs'

/** The fields used from Vitest's JSON report. */
type Report = {
  success: boolean
  numPassedTests: number
  numFailedTests: number
  testResults: {
    name: string
    status: string
    message?: string
    assertionResults: { status: string; fullName: string; failureMessages?: string[] }[]
  }[]
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

/**
 * Describes the failures in Vitest's JSON reports, so that they can be read at the end of a long log.
 *
 * @param files one report per package with tests
 * @returns one text per failed test, or test file that failed to load: file, test and messages. A missing report is
 * described too.
 */
export function describeFailures(files: string[]): string[] {
  return files.flatMap((file) => {
    const report = readReport(file)
    if (!report) return [`${relative(root, file)}: no report`]
    return report.testResults.flatMap(({ name, status, message, assertionResults }) => {
      const failures = assertionResults.filter(({ status }) => status === 'failed')
      const path = relative(root, name)
      if (status === 'failed' && failures.length === 0) return [`${path}\n${message ?? ''}`]
      return failures.map(
        ({ fullName, failureMessages = [] }) => `${path} > ${fullName}\n${failureMessages.join('\n')}`,
      )
    })
  })
}

function readReport(file: string): Report | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}
