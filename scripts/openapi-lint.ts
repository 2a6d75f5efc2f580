// Lints the OpenAPI document with Redocly and Spectral. Warnings count as errors (redocly.yaml, .spectral-owasp.yaml).
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from './child.mjs'
import { printDocument } from './openapi-document.ts'

const directory = mkdtempSync(join(tmpdir(), 'openapi-'))
try {
  const file = join(directory, 'openapi.json')
  writeFileSync(file, JSON.stringify(JSON.parse(printDocument()), null, 2))
  const redocly = await run('redocly', ['lint', file, '--format=stylish', '--lint-config=error'])
  const spectral = await run('spectral', ['lint', file, '--ruleset=.spectral-owasp.yaml', '--fail-severity=warn'])
  process.exitCode = redocly.code || spectral.code
} finally {
  rmSync(directory, { recursive: true })
}
