import type { TestProject } from 'vitest/node'
import { startPostgres } from './postgres.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** The URL of a database of the run's PostgreSQL server. */
    postgres: string
    /** The port of the server behind PgBouncer, if `postgres` goes through it. */
    unpooledPort: number | undefined
  }
}

/** For Vitest's `globalSetup`: one PostgreSQL server for the whole run, which tests find by `inject('postgres')`. */
export default async function setup({ provide }: TestProject) {
  // Statistics that appear at some moment would change the plans of queries.
  const server = await startPostgres({ autovacuum: 'off' })
  provide('postgres', server.url)
  return () => server[Symbol.asyncDispose]()
}
