#!/usr/bin/env -S node --max-old-space-size=64 --max-semi-space-size=4
import { failureOf } from './failures.ts'
import { tell } from './output.ts'
import { createProgram } from './program.ts'

// Whoever reads the output may have seen enough: `resource export … | head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? 0 : 1)
})

try {
  await createProgram().parseAsync()
} catch (error) {
  const { code, message } = failureOf(error, '')
  if (message !== '') tell(message)
  process.exitCode = code
}
