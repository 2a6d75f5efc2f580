import { isIP } from 'node:net'
import { or } from '@resource/openapi/contract'
import { z } from 'zod'
import { isSecure } from '../http/loopback.ts'

const number = (min: number, max: number) => {
  const rule = { error: `must be a whole number from ${min} to ${max}` }
  return z.string().regex(/^\d+$/, rule).transform(Number).pipe(z.int(rule).min(min, rule).max(max, rule))
}

const whole = (min: number, max: number, fallback: number) => number(min, max).prefault(String(fallback))

function oneOf<const Value extends string>(values: readonly Value[]) {
  return z.enum(values, { error: `must be one of ${values.join(', ')}` })
}

const flag = oneOf(['true', 'false'])
  .prefault('false')
  .transform((text) => text === 'true')

const address = (text: string) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)

const isOrigin = (origin: string) => address(origin) && new URL(origin).origin === origin

const list = (what: string, isOne: (part: string) => boolean) =>
  z
    .string()
    .default('')
    .transform((text) => text.split(',').flatMap((part) => part.trim() || []))
    .refine((parts) => parts.every(isOne), { error: `must be ${what}, separated by commas` })

const NETWORKS = ['loopback', 'linklocal', 'uniquelocal']
const subnet = z.union([z.cidrv4(), z.cidrv6()])
// Express rejects them: zones with punctuation, and IPv4 in IPv6 other than ::ffff:192.0.2.1.
const UNSUPPORTED = /%.*[^\da-z]|^(?!::ffff:).*:.*\./i
const isTrustable = (part: string) =>
  NETWORKS.includes(part) || ((isIP(part) !== 0 || subnet.safeParse(part).success) && !UNSUPPORTED.test(part))

const SAMPLERS = ['always_on', 'always_off', 'traceidratio'] as const

const endpoint = z.string().refine(address, 'must be the http(s) URL of an OpenTelemetry collector').optional()

const schema = z
  .object({
    HOST: z.string().min(1, 'must be an address or a host name').default('127.0.0.1'),
    PORT: whole(0, 65535, 3000),
    DATABASE_URL: z
      .string()
      .regex(/^file:.|^postgres(ql)?:\/\//, 'must be file: followed by a path, or a postgresql:// URL')
      .default('file:./data/resource.db'),
    DATABASE_POOL_SIZE: whole(1, 1000, 10),
    DATABASE_CONNECT_TIMEOUT_MS: whole(1, 600_000, 5_000),
    DATABASE_STATEMENT_TIMEOUT_MS: whole(0, 600_000, 30_000),
    ALLOW_UNTESTED_DATABASE: flag,
    LOG_LEVEL: oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
    PASSWORD_MIN_LENGTH: whole(8, 1024, 8),
    WORKERS: whole(1, 256, 1),
    WORKER_TIMEOUT_MS: whole(100, 3_600_000, 10_000),
    AUDIT_DAYS: whole(0, 36_500, 365),
    PROPOSAL_DAYS: whole(1, 36_500, 7),
    SESSION_IDLE_MINUTES: whole(5, 525_600, 720),
    SESSION_HOURS: whole(1, 8_760, 168),
    RATE_LIMIT: number(0, 1_000_000_000).optional(),
    TRUST_PROXY: list(or(['addresses', 'networks such as 10.0.0.0/8', ...NETWORKS]), isTrustable).refine(
      (parts) => !parts.some((part) => part.endsWith('/0')),
      'must not contain a /0 network. To trust every address, so that clients can forge theirs, set 0.0.0.0/1,128.0.0.0/1,::/1,8000::/1',
    ),
    MAX_CONNECTIONS: whole(1, 1_000_000, 10_000),
    MAX_REQUESTS: whole(1, 1_000_000, 1_000),
    MAX_STREAMS: whole(0, 1_000_000, 5_000),
    MAX_DELAY_MS: whole(1, 600_000, 1_000),
    DRAIN_MS: whole(0, 600_000, 0),
    ALLOW_ANONYMOUS: flag,
    ALLOWED_HOSTS: list('host names without a port, such as api.example.com', (name) =>
      /^(?:[\w-]+\.)*[\w-]+$/.test(name),
    ).transform((names) => names.map((name) => name.toLowerCase())),
    CORS_ORIGINS: list('origins such as https://app.example.com', isOrigin),
    OIDC_ISSUER: z
      .string()
      .refine(address, { error: 'must be the http(s) URL of an identity provider', abort: true })
      .refine(isSecure, 'must be https, or http on loopback: otherwise its signing keys could be replaced in transit')
      .optional(),
    OIDC_AUDIENCE: z.string().optional(),
    OIDC_TOKEN_TYPE: z.string().optional(),
    OIDC_ROLE_CLAIM: z.string().default('role'),
    OIDC_CLIENT_ID: z.string().optional(),
    OIDC_CLIENT_SECRET: z.string().optional(),
    OIDC_SCOPE: z
      .string()
      .regex(/(?:^| )openid(?: |$)/, 'must contain openid')
      .default('openid'),
    PUBLIC_ORIGIN: z.string().refine(isOrigin, 'must be an origin such as https://api.example.com').optional(),
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: endpoint,
    OTEL_EXPORTER_OTLP_PROTOCOL: oneOf(['http/protobuf']).optional(),
    OTEL_EXPORTER_OTLP_TIMEOUT: whole(1, 600_000, 3_000),
    OTEL_SDK_DISABLED: flag,
    OTEL_TRACES_SAMPLER: oneOf([...SAMPLERS, ...SAMPLERS.map((name) => `parentbased_${name}` as const)]).default(
      'parentbased_always_on',
    ),
    OTEL_TRACES_SAMPLER_ARG: z
      .string()
      .default('1')
      .transform(Number)
      .refine((ratio) => ratio >= 0 && ratio <= 1, 'must be a number from 0 to 1'),
    OTEL_BSP_SCHEDULE_DELAY: whole(1, 600_000, 5_000),
    OTEL_BSP_MAX_QUEUE_SIZE: whole(1, 1_000_000, 2_048),
    OTEL_BSP_MAX_EXPORT_BATCH_SIZE: whole(1, 100_000, 512),
  })
  .refine(({ OIDC_ISSUER, OIDC_AUDIENCE }) => OIDC_ISSUER === undefined || OIDC_AUDIENCE !== undefined, {
    path: ['OIDC_AUDIENCE'],
    error: 'is required with OIDC_ISSUER: otherwise tokens for other services would be accepted',
  })
  .refine(({ OIDC_ISSUER, OIDC_CLIENT_ID }) => OIDC_CLIENT_ID === undefined || OIDC_ISSUER !== undefined, {
    path: ['OIDC_ISSUER'],
    error: 'is required with OIDC_CLIENT_ID',
  })

const STANDBY =
  'is no longer a setting: remove it. Start another instance whose DATABASE_URL names the standby, and let a load balancer send it reads'
const DRIVER =
  "is no longer a setting: remove it. Every query is a prepared statement, and rules get Prisma's client by tx.prisma()"

/** Former settings, each with what to do instead. They are refused, because without them the service works differently. */
const REMOVED: Record<string, string> = {
  DATABASE_ACCESS: DRIVER,
  DATABASE_DRIVER: DRIVER,
  DATABASE_REPLICA_URLS: STANDBY,
  DATABASE_REPLICA_LAG_MS: STANDBY,
  MAX_WAITING_PER_ADDRESS:
    'is no longer a setting: remove it. MAX_CONNECTIONS and time limit the connections that wait for their client',
}

export type Config = z.output<typeof schema>

/**
 * Reads all settings of the service from the environment.
 *
 * @param environment variables by name; empty ones count as absent
 * @throws Error that lists each invalid variable with its allowed values, each former one with what to do instead
 */
export function readConfig(environment: Record<string, string | undefined> = process.env): Config {
  const set = Object.fromEntries(Object.entries(environment).filter(([, value]) => value))
  const removed = Object.entries(REMOVED).flatMap(([name, remedy]) => (set[name] ? [`  ${name} ${remedy}`] : []))
  const { data, error } = schema.safeParse(set)
  const faults = [...removed, ...(error?.issues ?? []).map(({ path, message }) => `  ${path.join('.')} ${message}`)]
  if (data !== undefined && faults.length === 0) return data
  throw new Error(`Invalid configuration:\n${faults.join('\n')}`)
}

/** The settings of a client without HTTP, which has a database only. */
export function readLocalConfig(databaseUrl: string): Config {
  const { ALLOW_UNTESTED_DATABASE } = process.env
  return readConfig({ DATABASE_URL: databaseUrl, ALLOW_UNTESTED_DATABASE })
}
