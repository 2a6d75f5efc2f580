/** A measured program. It receives `PORT` and `DATABASE_URL` and listens on 127.0.0.1. */
export interface Program {
  name: string
  title: string
  /** Path relative to the folder of the bench. */
  entry: string
  /** Node.js flags and environment variables that its authors recommend. */
  flags?: string[]
  env?: Record<string, string>
  trpc: boolean
  /** Whether the body of its bulk create is `{ users: [...] }` instead of an array. */
  bulkInObject?: boolean
  /** Whether it converts strings in JSON bodies to numbers. */
  convertsBodies?: boolean
  /** Variant of a framework program. An equipped one also has logs, rate limits, load shedding and metrics, like the service. */
  peer?: 'bare' | 'equipped'
}

const peers: Program[] = [
  { name: 'fastify', title: 'Fastify, Drizzle', entry: 'peers/fastify.ts', trpc: false },
  { name: 'hono', title: 'Hono zod-openapi, Kysely', entry: 'peers/hono.ts', trpc: false },
]

export const programs: Program[] = [
  {
    name: 'ours',
    title: 'Resource Service',
    entry: '../apps/server/src/main.ts',
    // The same settings as in `npm start`.
    flags: ['--max-semi-space-size=16'],
    env: { MALLOC_MMAP_THRESHOLD_: '1048576' },
    trpc: true,
  },
  { name: 'limit', title: 'the limit: node:http, prepared statements', entry: 'peers/limit.ts', trpc: true },
  {
    name: 'plain',
    title: 'Express, trpc-to-openapi, Prisma',
    entry: 'peers/plain.ts',
    trpc: true,
    bulkInObject: true,
    convertsBodies: true,
    peer: 'bare',
  },
  ...peers.flatMap<Program>((program) => [
    { ...program, peer: 'bare' },
    { ...program, name: `${program.name}-equipped`, env: { EQUIPPED: '1' }, peer: 'equipped' },
  ]),
]
