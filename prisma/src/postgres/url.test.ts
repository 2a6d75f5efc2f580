import { expect, test } from 'vitest'
import { readPostgresUrl } from './url.ts'

const WITHOUT_TLS =
  /^The database URL names a remote host without TLS: .* Add sslmode=verify-full to the URL, or sslmode=disable/

test.each([
  'postgresql://app:hunter2@db.example.com/app',
  'postgresql://app:hunter2@10.0.0.7:5432/app?pgbouncer=true',
  'postgresql://app:hunter2@database/app',
  'postgresql://app:hunter2@localhost.example.com/app',
  'postgresql://app:hunter2@[fd00::7]:5432/app',
  'postgresql://app:hunter2@localhost/app?host=db.example.com',
  'postgresql://app:hunter2@db.example.com/app?ssl=0',
  'postgresql://app:hunter2@localhost:5432,db.example.com:5432/app',
])('%s is rejected: the host is remote, and TLS is not configured', (url) => {
  expect(() => readPostgresUrl(url)).toThrow(WITHOUT_TLS)
  expect(() => readPostgresUrl(url)).not.toThrow('hunter2')
})

test.each([
  'postgresql://app@db.example.com/app?sslmode=verify-full',
  'postgresql://app@db.example.com/app?sslmode=disable',
  'postgresql://app@db.example.com/app?ssl=true',
  'postgresql://app@localhost/app',
  'postgresql://app@LOCALHOST:5432/app',
  'postgresql://app@127.0.0.1:5432/app',
  'postgresql://app@[::1]:5432/app',
  'postgresql:///app',
  'postgresql:///app?host=/var/run/postgresql',
  'postgresql:///app?host=/var/run/postgresql&user=app&password=secret',
  'postgresql://%2Fvar%2Frun%2Fpostgresql/app',
])('%s is accepted', (url) => {
  expect(readPostgresUrl(url).connectionString).toBe(url)
})

test('parameters of the service are not sent to the server', () => {
  const url = readPostgresUrl('postgresql://app@localhost/app?schema=a&sslmode=disable&pgbouncer=true&lock_timeout=9')
  expect(url).toMatchObject({
    connectionString: 'postgresql://app@localhost/app?sslmode=disable',
    schema: 'a',
    settings: { lock_timeout: '9' },
    pgbouncer: true,
  })
  expect(readPostgresUrl('postgresql://app@localhost/app').schema).toBe('public')
})

test('of several hosts each has a connection string, and by default the one that accepts writes is wanted', () => {
  const url = 'postgresql://app:secret@localhost:5432,[::1]:5433/app'
  const connectionStrings = ['postgresql://app:secret@localhost:5432/app', 'postgresql://app:secret@[::1]:5433/app']
  const label = 'postgresql://localhost:5432,[::1]:5433/app'
  expect(readPostgresUrl(url)).toMatchObject({ connectionStrings, label, target: 'read-write' })
  expect(readPostgresUrl(`${url}?target_session_attrs=any`)).toMatchObject({ label, target: 'any' })
  expect(readPostgresUrl('postgresql://localhost/app').target).toBeUndefined()
  for (const malformed of ['postgresql://app:hunter2@a:b,c/app', 'postgresql://app@a,b:1:2/app']) {
    expect(() => readPostgresUrl(malformed)).toThrow('The database URL must be postgresql://')
  }
  expect(() => readPostgresUrl(`${url}?port=1`)).toThrow(
    'The database URL has the parameter port for several hosts. Write postgresql://host:port,host:port/database.',
  )
})

test.each([
  [
    'host=localhost,127.0.0.1&sslmode=disable',
    'The database URL has the parameter host for several hosts. Write postgresql://host:port,host:port/database.',
  ],
  [
    'target_session_attrs=master',
    'The database URL has an unknown target_session_attrs. Allowed: any, prefer-standby, primary, read-only, read-write, standby.',
  ],
  [
    'schemas=a',
    'The database URL has an unknown parameter schemas. Allowed: application_name, fallback_application_name,',
  ],
  ['connection_limit=5', 'The database URL has an unknown parameter connection_limit. Allowed:'],
  ['Schema=a', 'The database URL has an unknown parameter Schema. Allowed:'],
  ['hunter2@h/x', 'The database URL has an unknown parameter. Allowed:'],
  ['schema=a&schema=b', 'The database URL has the parameter schema twice.'],
  [
    'options=-c%20search_path=a',
    'The database URL sets search_path in options, where it has no effect. Use the parameter schema.',
  ],
  [
    'options=--lock_timeout=9',
    'The database URL sets lock_timeout in options, where it has no effect. Use the parameter lock_timeout.',
  ],
  ['schema=', 'The database URL has an empty schema.'],
])('the parameters %s are rejected', (parameters, message) => {
  expect(() => readPostgresUrl(`postgresql://app@localhost/app?${parameters}`)).toThrow(message)
})
