import { expect, test } from 'vitest'
import { readConfig } from '../src/process/config.ts'

test('by default the service listens on loopback, port 3000, and stores its data in ./data', () => {
  expect(readConfig({})).toEqual({
    HOST: '127.0.0.1',
    PORT: 3000,
    DATABASE_URL: 'file:./data/resource.db',
    DATABASE_POOL_SIZE: 10,
    DATABASE_CONNECT_TIMEOUT_MS: 5000,
    DATABASE_STATEMENT_TIMEOUT_MS: 30_000,
    ALLOW_UNTESTED_DATABASE: false,
    LOG_LEVEL: 'info',
    PASSWORD_MIN_LENGTH: 8,
    WORKERS: 1,
    WORKER_TIMEOUT_MS: 10_000,
    ALLOW_ANONYMOUS: false,
    ALLOWED_HOSTS: [],
    CORS_ORIGINS: [],
    OIDC_ROLE_CLAIM: 'role',
    OIDC_SCOPE: 'openid',
    OTEL_EXPORTER_OTLP_TIMEOUT: 3000,
    OTEL_SDK_DISABLED: false,
    OTEL_TRACES_SAMPLER: 'parentbased_always_on',
    OTEL_TRACES_SAMPLER_ARG: 1,
    OTEL_BSP_SCHEDULE_DELAY: 5000,
    OTEL_BSP_MAX_QUEUE_SIZE: 2048,
    OTEL_BSP_MAX_EXPORT_BATCH_SIZE: 512,
    RATE_LIMIT: undefined,
    AUDIT_DAYS: 365,
    PROPOSAL_DAYS: 7,
    SESSION_IDLE_MINUTES: 720,
    SESSION_HOURS: 168,
    TRUST_PROXY: [],
    MAX_REQUESTS: 1000,
    MAX_STREAMS: 5000,
    MAX_DELAY_MS: 1000,
    DRAIN_MS: 0,
    MAX_CONNECTIONS: 10_000,
  })
})

test('every variable is read', () => {
  const environment = {
    HOST: '::1',
    PORT: '8080',
    DATABASE_URL: 'postgresql://app:secret@db.example.com/app',
    DATABASE_POOL_SIZE: '20',
    DATABASE_CONNECT_TIMEOUT_MS: '2000',
    DATABASE_STATEMENT_TIMEOUT_MS: '0',
    ALLOW_UNTESTED_DATABASE: 'true',
    LOG_LEVEL: 'warn',
    PASSWORD_MIN_LENGTH: '12',
    WORKERS: '4',
    WORKER_TIMEOUT_MS: '5000',
    ALLOW_ANONYMOUS: 'true',
    ALLOWED_HOSTS: 'API.example.com, nas.lan',
    CORS_ORIGINS: 'https://app.example.com, http://localhost:5173',
    OIDC_ISSUER: 'https://id.example.com',
    OIDC_AUDIENCE: 'resource',
    OIDC_ROLE_CLAIM: 'groups',
    OIDC_TOKEN_TYPE: 'at+jwt',
    OIDC_CLIENT_ID: 'console',
    OIDC_CLIENT_SECRET: 'secret',
    OIDC_SCOPE: 'openid roles',
    PUBLIC_ORIGIN: 'https://api.example.com',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318',
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://traces.example.com/v1/traces',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
    OTEL_EXPORTER_OTLP_TIMEOUT: '1000',
    OTEL_SDK_DISABLED: 'true',
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0.25',
    OTEL_BSP_SCHEDULE_DELAY: '500',
    OTEL_BSP_MAX_QUEUE_SIZE: '4096',
    OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '1024',
    RATE_LIMIT: '600',
    AUDIT_DAYS: '30',
    PROPOSAL_DAYS: '14',
    SESSION_IDLE_MINUTES: '30',
    SESSION_HOURS: '24',
    TRUST_PROXY: 'loopback, 10.0.0.0/8,2001:db8::1',
    MAX_REQUESTS: '50',
    MAX_STREAMS: '70',
    MAX_DELAY_MS: '200',
    DRAIN_MS: '3000',
    MAX_CONNECTIONS: '500',
  }
  expect(readConfig(environment)).toEqual({
    ...environment,
    PORT: 8080,
    DATABASE_POOL_SIZE: 20,
    DATABASE_CONNECT_TIMEOUT_MS: 2000,
    DATABASE_STATEMENT_TIMEOUT_MS: 0,
    ALLOW_UNTESTED_DATABASE: true,
    PASSWORD_MIN_LENGTH: 12,
    WORKERS: 4,
    WORKER_TIMEOUT_MS: 5_000,
    ALLOW_ANONYMOUS: true,
    ALLOWED_HOSTS: ['api.example.com', 'nas.lan'],
    CORS_ORIGINS: ['https://app.example.com', 'http://localhost:5173'],
    OTEL_EXPORTER_OTLP_TIMEOUT: 1000,
    OTEL_SDK_DISABLED: true,
    OTEL_TRACES_SAMPLER_ARG: 0.25,
    OTEL_BSP_SCHEDULE_DELAY: 500,
    OTEL_BSP_MAX_QUEUE_SIZE: 4096,
    OTEL_BSP_MAX_EXPORT_BATCH_SIZE: 1024,
    RATE_LIMIT: 600,
    AUDIT_DAYS: 30,
    PROPOSAL_DAYS: 14,
    SESSION_IDLE_MINUTES: 30,
    SESSION_HOURS: 24,
    TRUST_PROXY: ['loopback', '10.0.0.0/8', '2001:db8::1'],
    MAX_REQUESTS: 50,
    MAX_STREAMS: 70,
    MAX_DELAY_MS: 200,
    DRAIN_MS: 3000,
    MAX_CONNECTIONS: 500,
  })
})

test('an empty variable counts as absent, and an unknown one is ignored', () => {
  expect(readConfig({ PORT: '', HOST: '', LOG_LEVEL: '', DATABASE_URL: '', PATH: '/bin' })).toEqual(readConfig({}))
})

test.each([
  ['0', 0],
  ['65535', 65535],
])('PORT=%s is accepted', (PORT, port) => {
  expect(readConfig({ PORT }).PORT).toBe(port)
})

const WRONG = [
  ['PORT', ['abc', '-1', '65536', '80.5', '1e3', ' 80', '0x50'], 'must be a whole number from 0 to 65535'],
  ['PASSWORD_MIN_LENGTH', ['7', '1025', 'eight'], 'must be a whole number from 8 to 1024'],
  ['WORKERS', ['0', '257', '-1'], 'must be a whole number from 1 to 256'],
  ['RATE_LIMIT', ['-1', 'none'], 'must be a whole number from 0 to 1000000000'],
  [
    'TRUST_PROXY',
    [
      'true',
      '1',
      'proxy.example.com',
      '10.0.0.0/33',
      '10.0.0.0/8/8',
      '10.0.0.0/',
      '::1,x',
      '::192.0.2.1',
      'fe80::1%a-b',
    ],
    'must be addresses, networks such as 10.0.0.0/8, loopback, linklocal or uniquelocal, separated by commas',
  ],
  [
    'TRUST_PROXY',
    ['0.0.0.0/0', '::/0', '::1,10.0.0.0/0'],
    'must not contain a /0 network. To trust every address, so that clients can forge theirs, set 0.0.0.0/1,128.0.0.0/1,::/1,8000::/1',
  ],
  ['MAX_REQUESTS', ['0', 'all'], 'must be a whole number from 1 to 1000000'],
  ['MAX_DELAY_MS', ['0', '1s'], 'must be a whole number from 1 to 600000'],
  ['DRAIN_MS', ['-1', '5s'], 'must be a whole number from 0 to 600000'],
  ['MAX_CONNECTIONS', ['0', '1e3'], 'must be a whole number from 1 to 1000000'],
  ['LOG_LEVEL', ['loud', 'INFO'], 'must be one of trace, debug, info, warn, error, fatal, silent'],
  [
    'DATABASE_URL',
    ['mysql://u:secretpw@h/db', 'data.db', 'file:', 'postgresql:h/db'],
    'must be file: followed by a path, or a postgresql:// URL',
  ],
  ['DATABASE_POOL_SIZE', ['0', '1001', 'many'], 'must be a whole number from 1 to 1000'],
  ['DATABASE_CONNECT_TIMEOUT_MS', ['0', '5s'], 'must be a whole number from 1 to 600000'],
  ['DATABASE_STATEMENT_TIMEOUT_MS', ['-1', '600001'], 'must be a whole number from 0 to 600000'],
  ['ALLOW_ANONYMOUS', ['yes', 'TRUE', '1'], 'must be one of true, false'],
  ['ALLOW_UNTESTED_DATABASE', ['yes'], 'must be one of true, false'],
  [
    'ALLOWED_HOSTS',
    ['*', 'api.example.com:3000', 'https://api.example.com', 'a b'],
    'must be host names without a port, such as api.example.com, separated by commas',
  ],
  [
    'CORS_ORIGINS',
    ['*', 'https://app.example.com/', 'app.example.com', 'https://a.example,file:///'],
    'must be origins such as https://app.example.com, separated by commas',
  ],
  [
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    ['collector:4318', 'grpc://collector:4317'],
    'must be the http(s) URL of an OpenTelemetry collector',
  ],
  ['OTEL_EXPORTER_OTLP_PROTOCOL', ['grpc', 'http/json'], 'must be one of http/protobuf'],
  ['OTEL_TRACES_SAMPLER_ARG', ['1.5', '-1', 'half'], 'must be a number from 0 to 1'],
] as const

for (const [name, values, rule] of WRONG) {
  test.each(values)(`${name}=%s is refused: ${rule}`, (value) => {
    expect(() => readConfig({ [name]: value })).toThrow(new Error(`Invalid configuration:\n  ${name} ${rule}`))
  })
}

test.each(['id.example.com', 'file:///etc'])('OIDC_ISSUER=%s is refused', (OIDC_ISSUER) => {
  expect(() => readConfig({ OIDC_ISSUER, OIDC_AUDIENCE: 'resource' })).toThrow(
    new Error('Invalid configuration:\n  OIDC_ISSUER must be the http(s) URL of an identity provider'),
  )
})

test('OIDC_ISSUER must be https, or http on this machine', () => {
  expect(() => readConfig({ OIDC_ISSUER: 'http://id.example.com', OIDC_AUDIENCE: 'resource' })).toThrow(
    'OIDC_ISSUER must be https, or http on loopback: otherwise its signing keys could be replaced in transit',
  )
  for (const OIDC_ISSUER of [
    'https://id.example.com',
    'http://localhost:8080',
    'http://127.0.0.1:1',
    'http://[::1]:1',
  ]) {
    expect(readConfig({ OIDC_ISSUER, OIDC_AUDIENCE: 'resource' }).OIDC_ISSUER).toBe(OIDC_ISSUER)
  }
})

test('OIDC_ISSUER without OIDC_AUDIENCE is refused: the service would accept tokens issued for other services', () => {
  expect(() => readConfig({ OIDC_ISSUER: 'https://id.example.com' })).toThrow(
    'OIDC_AUDIENCE is required with OIDC_ISSUER',
  )
})

test('all invalid variables are reported together, without their values', () => {
  const read = () => readConfig({ PORT: 'abc', DATABASE_URL: 'mysql://u:secretpw@h/db', LOG_LEVEL: 'loud' })
  expect(read).toThrow(
    new Error(`Invalid configuration:
  PORT must be a whole number from 0 to 65535
  DATABASE_URL must be file: followed by a path, or a postgresql:// URL
  LOG_LEVEL must be one of trace, debug, info, warn, error, fatal, silent`),
  )
})

const standby =
  'is no longer a setting: remove it. Start another instance whose DATABASE_URL names the standby, and let a load balancer send it reads'
const driver =
  "is no longer a setting: remove it. Every query is a prepared statement, and rules get Prisma's client by tx.prisma()"

test.each([
  ['DATABASE_ACCESS', driver],
  ['DATABASE_DRIVER', driver],
  ['DATABASE_REPLICA_URLS', standby],
  ['DATABASE_REPLICA_LAG_MS', standby],
  [
    'MAX_WAITING_PER_ADDRESS',
    'is no longer a setting: remove it. MAX_CONNECTIONS and time limit the connections that wait for their client',
  ],
])('the former setting %s is refused, with what to do instead', (name, remedy) => {
  expect(() => readConfig({ [name]: 'secretpw' })).toThrow(new Error(`Invalid configuration:\n  ${name} ${remedy}`))
  expect(readConfig({ [name]: '' })).toEqual(readConfig({}))
})
