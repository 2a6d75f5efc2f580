import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { Failure, invalid } from './failures.ts'

const silent = () => new Writable({ write: (_chunk, _encoding, done) => done() })

/** Whether a person can answer a question. */
export function isInteractive(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true
}

/** Prompts for a value without echo. If stdin is not a terminal, reads its first line. */
export async function promptSecret(name: string, prompt = name): Promise<string> {
  const value = await readLine(`${prompt}: `, true)
  if (value === undefined) throw invalid(`--${name}: stdin must contain the ${name} as its first line`)
  return value
}

/** Prompts for a line; an empty one is `fallback`. */
export async function prompt(question: string, fallback: string): Promise<string> {
  return (await readLine(`${question} [${fallback}] `))?.trim() || fallback
}

/**
 * Asks whether to write.
 *
 * @param shown what the write would do
 * @param details of the failure if nobody can answer
 * @throws Failure if the answer is no, or nobody can answer
 */
export async function approve(question: string, shown = '', details: Failure['details'] = {}): Promise<void> {
  if (!isInteractive()) throw new Failure('invalid', `${shown}${question} Add --yes to confirm.`, details)
  process.stderr.write(shown)
  if (!(await confirm(question))) throw new Failure('interrupted', 'Nothing was changed.')
}

/** Asks yes or no; Enter is no. */
export async function confirm(question: string): Promise<boolean> {
  return /^y(es)?$/i.test((await readLine(`${question} [y/N] `))?.trim() ?? '')
}

/**
 * Reads one line.
 *
 * @returns undefined if stdin is not a terminal and has no line
 * @throws Failure for Ctrl-C and Ctrl-D on a terminal
 */
async function readLine(prompt: string, isSecret = false): Promise<string | undefined> {
  const { stdin, stderr } = process
  const lines = createInterface({ input: stdin, output: isSecret ? silent() : stderr, terminal: stdin.isTTY, prompt })
  // After the interface has turned the echo of the terminal off.
  if (!isSecret) lines.prompt()
  else if (stdin.isTTY) stderr.write(prompt)
  const line = await new Promise<string | undefined>((resolve) => {
    lines.once('line', resolve).once('close', () => resolve(undefined))
  })
  lines.close()
  if (!stdin.isTTY) return line
  if (isSecret || line === undefined) stderr.write('\n')
  if (line === undefined) throw new Failure('interrupted', 'Interrupted. Nothing was changed.')
  return line
}
