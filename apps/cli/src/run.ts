import { toFailure } from './failures.ts'
import { reportFailure, setOutputMode } from './output.ts'
import { createProgram } from './program.ts'

// The reader may close the pipe early: `resource export … | head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? 0 : 1)
})

const args = process.argv.slice(2)
// Set before the options are parsed, because invalid options are reported too.
setOutputMode({
  json: args.some((arg) => /^--json(=|$)/.test(arg)),
  quiet: args.some((arg) => /^(-q|--quiet)$/.test(arg)),
})

try {
  await createProgram().parseAsync()
} catch (error) {
  const failure = toFailure(error)
  if (failure.outcome !== 'ok') reportFailure(failure)
  process.exitCode = failure.exitCode
}
