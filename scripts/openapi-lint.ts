// Lints the OpenAPI document with Spectral (.spectral.yaml). Warnings count as errors.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { printDocument } from './openapi-document.ts'
import { run } from './run-command.mjs'

const directory = mkdtempSync(join(tmpdir(), 'openapi-'))
try {
  const file = join(directory, 'openapi.json')
  writeFileSync(file, JSON.stringify(JSON.parse(printDocument()), null, 2))
  const { code } = await run('spectral', ['lint', file, '--fail-severity=warn'])
  process.exitCode = code
} finally {
  rmSync(directory, { recursive: true })
}
