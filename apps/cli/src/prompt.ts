import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { invalid } from './failures.ts'

const silent = () => new Writable({ write: (_chunk, _encoding, done) => done() })

/** Prompts for a value without echo. If stdin is not a terminal, reads its first line. */
export async function promptSecret(name: string): Promise<string> {
  const { stdin, stderr } = process
  if (stdin.isTTY) stderr.write(`${name}: `)
  const lines = createInterface({ input: stdin, output: silent(), terminal: stdin.isTTY })
  try {
    const { value } = await lines[Symbol.asyncIterator]().next()
    if (stdin.isTTY) stderr.write('\n')
    if (value === undefined) throw invalid(`--${name}: stdin must contain the ${name} as its first line`)
    return value
  } finally {
    lines.close()
  }
}

/** Asks yes or no. @throws Failure if stdin is not a terminal */
export async function confirm(question: string): Promise<boolean> {
  if (!process.stdin.isTTY) throw invalid(`${question} Add --yes to confirm.`)
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return /^y(es)?$/i.test((await lines.question(`${question} [y/N] `)).trim())
  } finally {
    lines.close()
  }
}
