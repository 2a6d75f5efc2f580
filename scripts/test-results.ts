import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { root } from './run-command.mjs'

/** The fields used from Vitest's JSON report. */
interface Report {
  success: boolean
  numPassedTests: number
  testResults: {
    name: string
    status: string
    message?: string
    assertionResults: { status: string; fullName: string; failureMessages?: string[] }[]
  }[]
}

/**
 * Reads Vitest's JSON report of a package.
 *
 * @param hasSucceeded whether the run exited with code 0
 * @returns the number of passed tests, and a text for each failure: of a test or of a test file that fails to load. A missing
 * report, a run without tests and a failure outside the tests are one failure each.
 */
export function resultsIn(file: string, hasSucceeded: boolean): { passed: number; failures: string[] } {
  const path = relative(root, file)
  const report = readReport(file)
  if (report === undefined) return { passed: 0, failures: [`${path}: no report`] }
  const { success, numPassedTests: passed, testResults } = report
  const failures = testResults.flatMap(({ name, status, message = '', assertionResults }) => {
    const failed = assertionResults.filter(({ status }) => status === 'failed')
    const where = relative(root, name)
    if (status === 'failed' && failed.length === 0) return [`${where}\n${message}`]
    return failed.map(({ fullName, failureMessages = [] }) => `${where} > ${fullName}\n${failureMessages.join('\n')}`)
  })
  if (failures.length === 0 && passed === 0) failures.push(`${path}: no tests`)
  else if (failures.length === 0 && !(success && hasSucceeded)) failures.push(`${path}: a failure outside of the tests`)
  return { passed, failures }
}

function readReport(file: string): Report | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}
