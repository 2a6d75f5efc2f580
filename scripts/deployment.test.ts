import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from './run-command.mjs'

const read = (path: string) => readFileSync(join(root, path), 'utf8')

test('the compose file and the systemd unit set TRUST_PROXY, so that limits apply per client behind a proxy', () => {
  expect(read('compose.yaml')).toMatch(/^ {6}TRUST_PROXY: \$\{TRUST_PROXY:-uniquelocal\}$/m)
  expect(read('deploy/resource.service')).toMatch(/^Environment=TRUST_PROXY=loopback$/m)
})

test('the compose file runs the service without superuser rights and limits memory and processes', () => {
  const compose = read('compose.yaml')
  expect(compose).toMatch(/postgresql:\/\/resource:\$\{POSTGRES_PASSWORD/)
  expect(compose).not.toContain('POSTGRES_USER')
  expect(compose).toContain('./deploy/postgres-role.sh:/docker-entrypoint-initdb.d/postgres-role.sh:ro')
  expect(compose.match(/mem_limit: .*/g)).toHaveLength(2)
  expect(compose).toMatch(/x-hardened: &hardened.*?pids_limit: 512/s)
})
