#!/usr/bin/env -S node --max-old-space-size=64 --max-semi-space-size=4
import { toFailure } from './failures.ts'
import { log } from './output.ts'
import { createProgram } from './program.ts'

// The reader may close the pipe early: `resource export … | head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? 0 : 1)
})

try {
  await createProgram().parseAsync()
} catch (error) {
  const { code, message } = toFailure(error)
  if (message !== '') log(message)
  process.exitCode = code
}
