/** What is measured. Each is started with `PORT` and `DATABASE_URL`, and serves on 127.0.0.1. */
export interface Program {
  name: string
  title: string
  /** From the folder of the bench. */
  entry: string
  /** As its authors start it: flags of Node, and settings. */
  flags?: string[]
  env?: Record<string, string>
  trpc: boolean
  /** Its bulk create takes `{ users: [...] }`. */
  bulkInObject?: boolean
  /** It turns text in JSON bodies into numbers. */
  convertsBodies?: boolean
  /** The form of a framework: an equipped one also logs, limits, sheds load and counts, as the service does. */
  peer?: 'bare' | 'equipped'
}

const peers: Program[] = [
  {
    name: 'plain',
    title: 'Express, trpc-to-openapi, Prisma',
    entry: 'peers/plain.ts',
    trpc: true,
    bulkInObject: true,
    convertsBodies: true,
  },
  { name: 'fastify', title: 'Fastify, Drizzle', entry: 'peers/fastify.ts', trpc: false },
  { name: 'orpc', title: 'oRPC, Drizzle', entry: 'peers/orpc.ts', trpc: false },
  { name: 'hono', title: 'Hono zod-openapi, Kysely', entry: 'peers/hono.ts', trpc: false },
  { name: 'nest', title: 'NestJS, Prisma', entry: 'dist/peers/nest.js', trpc: false },
]

export const programs: Program[] = [
  {
    name: 'ours',
    title: 'Resource Service',
    entry: '../apps/server/src/main.ts',
    // As `npm start` has it.
    flags: ['--max-semi-space-size=16'],
    env: { MALLOC_MMAP_THRESHOLD_: '1048576' },
    trpc: true,
  },
  { name: 'limit', title: 'the limit: node:http, prepared statements', entry: 'peers/limit.ts', trpc: true },
  ...peers.flatMap<Program>((program) => [
    { ...program, peer: 'bare' },
    { ...program, name: `${program.name}-equipped`, env: { EQUIPPED: '1' }, peer: 'equipped' },
  ]),
]
