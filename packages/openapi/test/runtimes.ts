import { z } from 'zod'
import { ApiError } from '../src/api-error.ts'
import { type EnvelopeForm, type ErrorForm, mutation, query, resource } from '../src/contract.ts'
import { fetchHandler } from '../src/fetch.ts'
import { implement } from '../src/implement.ts'

const errorForm: ErrorForm = { schema: z.object({ error: z.string() }), body: ({ message }) => ({ error: message }) }
const envelope: EnvelopeForm = { schema: (data) => data, success: (data) => data, error: errorForm }
const planet = z.object({ id: z.int(), name: z.string().max(20), version: z.int() })

const contract = {
  planets: resource({
    tag: 'Planets',
    description: 'What goes around a star.',
    errorForm,
    procedures: {
      get: query({
        input: planet.pick({ id: true }),
        output: planet,
        errors: [404],
        meta: { openapi: { method: 'GET', path: '/planets/{id}', etag: 'version' } },
      }),
      create: mutation({
        input: planet.pick({ name: true }),
        output: planet,
        meta: { openapi: { method: 'POST', path: '/planets', status: 201, bodyLimit: 100 } },
      }),
    },
  }),
}

const operations = implement<typeof contract, object>(contract, {
  planets: {
    get: async ({ id }) => {
      if (id !== 6) throw new ApiError(404, 'Planet not found')
      return { id, name: 'Saturn', version: 2 }
    },
    create: async ({ name }) => ({ id: 7, name, version: 1 }),
  },
})

// Created at module level, because some runtimes allow code generation only at startup.
const handle = fetchHandler(contract, operations, { envelope, context: () => ({}), prefix: '/api' })

/** The responses of the fetch handler, to compare between runtimes. */
export async function answers() {
  const ask = async (path: string, init: RequestInit = {}) => {
    const answer = await handle(new Request(`http://127.0.0.1/api${path}`, init))
    return [answer.status, await answer.text()]
  }
  const post = (body: string) =>
    ask('/planets', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body })
  const [status, invalid = ''] = await post('{"name":')
  const { headers } = await handle(new Request('http://127.0.0.1/api/planets/6', { method: 'HEAD' }))
  return {
    read: await ask('/planets/6'),
    unchanged: await ask('/planets/6', { headers: { 'If-None-Match': headers.get('ETag') ?? '' } }),
    missing: await ask('/planets/7'),
    wrong: await ask('/planets/x'),
    unknown: await ask('/moons'),
    created: await post('{"name":"Neptune"}'),
    // Bun's engine does not say where.
    invalid: [status, String(invalid).replace(' (at position 8)', '')],
    tooLarge: await post(`{"name":"${'x'.repeat(100)}"}`),
  }
}
