import { toFailure } from './failures.ts'
import { reportFailure, setOutputMode } from './output.ts'
import { createProgram } from './program.ts'

/**
 * Runs one command on the streams of this process.
 *
 * @returns its exit code
 */
export async function runCommand(args: string[]): Promise<number> {
  // Set before the options are parsed, because invalid options are reported too.
  setOutputMode({
    json: args.some((arg) => /^--json(=|$)/.test(arg)),
    quiet: args.some((arg) => /^(-q|--quiet)$/.test(arg)),
  })
  try {
    await createProgram().parseAsync(args, { from: 'user' })
    return 0
  } catch (error) {
    const failure = toFailure(error)
    if (failure.outcome !== 'ok') reportFailure(failure)
    return failure.exitCode
  }
}
