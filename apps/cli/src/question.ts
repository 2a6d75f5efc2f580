import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { invalid } from './failures.ts'

const silent = () => new Writable({ write: (_chunk, _encoding, done) => done() })

/** Asks on the terminal without echo; otherwise the first line of stdin is the answer. */
export async function askSecret(name: string): Promise<string> {
  const { stdin, stderr } = process
  if (stdin.isTTY) stderr.write(`${name}: `)
  const lines = createInterface({ input: stdin, output: silent(), terminal: stdin.isTTY })
  try {
    const { value } = await lines[Symbol.asyncIterator]().next()
    if (stdin.isTTY) stderr.write('\n')
    if (value === undefined) throw invalid(`--${name}: stdin holds no line with it`)
    return value
  } finally {
    lines.close()
  }
}

/** Asks yes or no. @throws Failure where nobody can answer */
export async function confirm(question: string): Promise<boolean> {
  if (!process.stdin.isTTY) throw invalid(`${question} Say --yes to do it without a question.`)
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return /^y(es)?$/i.test((await lines.question(`${question} [y/N] `)).trim())
  } finally {
    lines.close()
  }
}
