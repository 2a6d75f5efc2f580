import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

test('POST /api/users/bulk passes at most 16 files from the socket to its statement on SQLite', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [join(import.meta.dirname, 'call-stack.ts')])
  const files = stdout.trim().split('\n')
  expect(files[0]).toBe('apps/server/src/connections/connections.ts')
  expect(files.at(-1)).toBe('prisma/src/sqlite/connection.ts')
  expect(files.length).toBeLessThanOrEqual(16)
})
