import { execFileSync } from 'node:child_process'
import { dirname } from 'node:path'
import { expect, test } from 'vitest'
import { CLI, sqliteTestDatabase } from '../src/engines.ts'
import { restoreDuringStart, TARGETS } from '../src/scenarios/restore-races.ts'
import { startService } from '../src/service.ts'

test('a restore while a service starts keeps the restored rows, or fails and keeps the target', {
  timeout: 120_000,
}, async () => {
  await using database = await sqliteTestDatabase()
  const folder = dirname(database.url.slice('file:'.length))
  await using service = await startService(database.url)
  const users = Array.from({ length: 1000 }, (_, n) => ({ name: 'Ada', email: `ada-${n}@example.com` }))
  const copies = [`${folder}/other.db`, `${folder}/copy.db`] as const
  for (const [n, copy] of copies.entries()) {
    const body = JSON.stringify(users.slice(n * 500, n * 500 + 500))
    const answer = await fetch(`${service.url}/api/users/bulk`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    expect(answer.status).toBe(201)
    execFileSync(process.execPath, [CLI, 'backup', copy, '--database', database.url])
  }
  for (const target of TARGETS) {
    const { code, faults } = await restoreDuringStart(target, copies[1], copies[0], folder)
    expect([0, 2, 4]).toContain(code)
    expect(faults).toEqual([])
  }
})
