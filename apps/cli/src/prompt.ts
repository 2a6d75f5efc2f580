import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { invalid } from './failures.ts'

const silent = () => new Writable({ write: (_chunk, _encoding, done) => done() })

/** Whether a person can answer a question. */
export function isInteractive(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true
}

/** Prompts for a value without echo. If stdin is not a terminal, reads its first line. */
export async function promptSecret(name: string, prompt = name): Promise<string> {
  const { stdin, stderr } = process
  const lines = createInterface({ input: stdin, output: silent(), terminal: stdin.isTTY })
  // After the interface has turned the echo of the terminal off.
  if (stdin.isTTY) stderr.write(`${prompt}: `)
  try {
    const { value } = await lines[Symbol.asyncIterator]().next()
    if (stdin.isTTY) stderr.write('\n')
    if (value === undefined) throw invalid(`--${name}: stdin must contain the ${name} as its first line`)
    return value
  } finally {
    lines.close()
  }
}

/** Prompts for a line; an empty one is `fallback`. */
export async function prompt(question: string, fallback: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return (await lines.question(`${question} [${fallback}] `)).trim() || fallback
  } finally {
    lines.close()
  }
}

/** Asks yes or no; Enter is no. @throws Failure if nobody can answer */
export async function confirm(question: string): Promise<boolean> {
  if (!isInteractive()) throw invalid(`${question} Add --yes to confirm.`)
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return /^y(es)?$/i.test((await lines.question(`${question} [y/N] `)).trim())
  } finally {
    lines.close()
  }
}
