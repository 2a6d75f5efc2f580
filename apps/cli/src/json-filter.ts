import { invalid } from './failures.ts'

/**
 * Applies a jq filter to JSON text. Text results are printed without quotes, others as compact JSON, one per line.
 *
 * @throws Failure with the message of jq
 */
export async function jq(json: string, filter: string): Promise<string> {
  // jq compiled to WebAssembly: loaded only here, because it takes 20 MiB.
  const { raw } = await (await import('jq-web')).default
  let lines: string | undefined
  try {
    lines = raw(json, filter, ['-r', '-c'])
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string }
    throw invalid(`--jq: ${(stderr ?? message).trim()}`)
  }
  return lines === undefined || lines === '' ? '' : `${lines.replace(/\n$/, '')}\n`
}

/**
 * Checks a jq filter before the command does anything.
 *
 * @throws Failure with the message of jq for a filter that it cannot compile
 */
export async function checkFilter(filter: string): Promise<void> {
  await jq('null', `def filter: (${filter}\n); empty`)
}
