import { z } from 'zod'
import type { EnvelopeForm, ErrorForm, Implementation } from '../src/contract.ts'
import { mutation, query, resource } from '../src/contract.ts'
import { openApiDocument } from '../src/document.ts'
import { ApiError, implement } from '../src/index.ts'

// A sample contract that uses every property of bindings.

const faultForm: ErrorForm = {
  schema: z.object({ fault: z.string() }).meta({ id: 'Fault' }),
  body: ({ message }) => ({ fault: message }),
}

const detailForm: ErrorForm = {
  schema: z.object({ detail: z.string(), fields: z.array(z.string()) }).meta({ id: 'Detail' }),
  body: ({ message, fields }) => ({ detail: message, fields: fields.map(({ field }) => field) }),
}

const unnamedForm: ErrorForm = {
  schema: z.object({ oops: z.string() }),
  body: ({ message }) => ({ oops: message }),
}

const otherUnnamedForm: ErrorForm = {
  schema: z.object({ alas: z.string() }),
  body: ({ message }) => ({ alas: message }),
}

export const envelope: EnvelopeForm = {
  schema: (data, facts) => z.object({ ok: z.literal(true), data, meta: z.strictObject(facts) }),
  success: (data, facts) => ({ ok: true, data, meta: facts }),
  error: {
    schema: z
      .object({ ok: z.literal(false), code: z.int(), message: z.string(), details: z.string() })
      .meta({ id: 'Wrapped' }),
    body: ({ status, message, details }) => ({ ok: false, code: status, message, details }),
  },
}

const id = z.int({ error: 'must be a whole number from 1 to 999' }).min(1).max(999)
const kind = z.enum(['rock', 'gas', 'ice'], { error: 'must be rock, gas or ice' })
const name = z.string({ error: 'must be text of 1 to 40 characters' }).min(1).max(40)
const planet = z.object({ id, name, kind, radius: z.number(), ringed: z.boolean() }).meta({ id: 'Planet' })
const versioned = planet.extend({ version: z.int() }).meta({ id: 'VersionedPlanet' })
const named = planet.pick({ name: true }).meta({ id: 'PlanetName' })
const newPlanet = z.object({
  name,
  kind: kind.default('rock'),
  radius: z.number({ error: 'must be a number' }),
  ringed: z.boolean({ error: 'must be true or false' }).default(false),
})
const key = z
  .string()
  .regex(/^[a-z]{1,20}$/, { error: 'must be 1 to 20 small letters' })
  .optional()
const message = z.object({ message: z.string() }).meta({ id: 'Message' })

const planets = resource({
  tag: 'Planets',
  description: 'What goes around a star.',
  errorForm: faultForm,
  procedures: {
    list: query({
      access: 'reader',
      input: z.object({
        kind: kind.optional(),
        ringed: z.boolean({ error: 'must be true or false' }).optional(),
        radius_lt: z.number({ error: 'must be a number' }).optional(),
        limit: id.default(10),
      }),
      output: z.object({ planets: z.array(versioned), total: z.int() }),
      meta: {
        openapi: {
          method: 'GET',
          path: '/planets',
          operationId: 'listPlanets',
          summary: 'List planets',
          description: 'All or some.',
          trailingSlash: 'significant',
          responseBody: 'planets',
          response: z.array(planet),
          envelope: 'planets',
          headers: {
            'X-Total': { description: 'How many.', value: ({ output }) => String(output.total) },
            'X-Limit': { description: 'Only for ice.', value: ({ input }) => limitOf(input) },
          },
          additionalBindings: [
            { path: '/planets/', operationId: 'listPlanetNames', response: z.array(named) },
            {
              path: '/worlds',
              operationId: 'listWorlds',
              trailingSlash: 'optional',
              tag: { name: 'Worlds', description: 'Planets, by another name.' },
            },
          ],
        },
      },
    }),
    get: query({
      access: 'reader',
      input: z.object({ id }),
      output: versioned,
      errors: [404],
      meta: {
        openapi: {
          method: 'GET',
          path: '/planets/{id}',
          operationId: 'getPlanet',
          summary: 'Get a planet',
          description: 'One of them.',
          trailingSlash: 'significant',
          response: planet,
          envelope: 'planet',
          etag: 'version',
          additionalBindings: [
            { path: '/planets/{id}/', operationId: 'getPlanetName', response: named },
            {
              path: '/worlds/{world_id}',
              operationId: 'getWorld',
              params: { world_id: 'id' },
              trailingSlash: 'optional',
            },
          ],
        },
      },
    }),
    create: mutation({
      access: 'writer',
      input: newPlanet.extend({ key }),
      output: versioned,
      errors: [409],
      meta: {
        openapi: {
          method: 'POST',
          path: '/planets',
          operationId: 'createPlanet',
          summary: 'Create a planet',
          description: 'From dust.',
          trailingSlash: 'significant',
          status: 201,
          response: planet,
          envelope: 'planet',
          etag: 'version',
          headerParams: { 'Idempotency-Key': 'key' },
          headers: {
            Location: { description: 'Where it is.', value: ({ output }) => `/planets/${output.id}` },
          },
          additionalBindings: [
            { path: '/planets/', operationId: 'createTitledPlanet', aliases: { title: 'name' }, status: 200 },
          ],
        },
      },
    }),
    createMany: mutation({
      access: 'writer',
      input: z.object({ planets: z.array(newPlanet, { error: 'must be an array of 1 to 3 planets' }).min(1).max(3) }),
      output: z.object({ planets: z.array(versioned) }),
      meta: {
        openapi: {
          method: 'POST',
          path: '/planets/bulk',
          operationId: 'createPlanets',
          summary: 'Create planets',
          description: 'At once.',
          status: 201,
          body: 'planets',
          bodyLimit: 1000,
          responseBody: 'planets',
          response: z.array(planet),
          envelope: 'planets',
        },
      },
    }),
    replace: mutation({
      access: 'writer',
      input: newPlanet.extend({ id, if_version: z.array(z.int()).max(3).optional() }),
      output: versioned,
      errors: [404],
      meta: {
        openapi: {
          method: 'PUT',
          path: '/planets/{id}',
          operationId: 'replacePlanet',
          summary: 'Replace a planet',
          description: 'Whole.',
          trailingSlash: 'significant',
          response: planet,
          envelope: 'planet',
          etag: 'version',
          ifMatch: 'if_version',
          additionalBindings: [{ path: '/planets/{id}/', operationId: 'replacePlanetQuietly', status: 204 }],
        },
      },
    }),
    delete: mutation({
      access: 'writer',
      input: z.object({ id }),
      output: message,
      errors: [404],
      meta: {
        openapi: {
          method: 'DELETE',
          path: '/planets/{id}',
          operationId: 'deletePlanet',
          summary: 'Delete a planet',
          description: 'With all on it.',
          trailingSlash: 'significant',
          additionalBindings: [
            {
              path: '/worlds/{world_id}',
              operationId: 'deleteWorld',
              params: { world_id: 'id' },
              trailingSlash: 'optional',
              status: 204,
            },
          ],
        },
      },
    }),
  },
})

function limitOf({ kind, limit }: { kind?: string | undefined; limit?: number | undefined }): string | undefined {
  return kind === 'ice' ? String(limit ?? 'none sent') : undefined
}

const moons = resource({
  tag: 'Moons',
  description: 'What goes around a planet.',
  errorForm: detailForm,
  procedures: {
    list: query({
      access: 'reader',
      input: z.object({ planet_id: id }),
      output: z.object({ moons: z.array(z.string()) }),
      meta: {
        openapi: {
          method: 'GET',
          path: '/planets/{planet_id}/moons',
          operationId: 'listMoons',
          summary: 'List the moons of a planet',
          description: 'By name.',
          responseBody: 'moons',
          response: z.array(z.string()),
        },
      },
    }),
    get: query({
      access: 'reader',
      input: z.object({ name: z.string() }),
      output: z.object({ name: z.string() }),
      meta: {
        openapi: {
          method: 'GET',
          path: '/moons/{name}',
          operationId: 'getMoon',
          summary: 'Get a moon',
          description: 'By name.',
        },
      },
    }),
  },
})

const commas = { param: { style: 'form', explode: false } } as const

/** Returns its input. */
const seen = z.object({ seen: z.record(z.string(), z.unknown()) })
const tree = z.record(z.string(), z.unknown())

const probes = resource({
  tag: 'Probes',
  description: 'Probes return their input.',
  errorForm: detailForm,
  procedures: {
    look: query({
      access: 'reader',
      input: z.object({
        count: z.number({ error: 'must be a number' }),
        label: z.string().optional(),
        ratio: z.number({ error: 'must be a number' }).optional(),
        on: z.boolean({ error: 'must be true or false' }).optional(),
        depth: z.number({ error: 'must be a number' }).optional(),
        sizes: z
          .array(z.number({ error: 'must be a number' }))
          .optional()
          .meta(commas),
        tags: z.array(z.string()).meta(commas).optional(),
        words: z.array(z.string()).optional(),
      }),
      output: seen,
      meta: {
        openapi: {
          method: 'GET',
          path: '/probes/{count}',
          operationId: 'look',
          summary: 'Look',
          description: 'And see.',
          headerParams: { 'X-Depth': 'depth' },
        },
      },
    }),
    send: mutation({
      access: 'writer',
      input: z.object({
        count: z.number({ error: 'must be a number' }).optional(),
        on: z.boolean({ error: 'must be true or false' }).optional(),
        label: z.string({ error: 'must be text' }).max(20, { error: 'must be text' }).optional(),
        parts: z.array(z.object({ size: z.int({ error: 'must be a whole number' }) })).optional(),
        tree: tree.optional(),
        deep: z.unknown().optional(),
      }),
      output: seen,
      meta: {
        openapi: {
          method: 'POST',
          path: '/probes',
          operationId: 'send',
          summary: 'Send',
          description: 'Off it goes.',
          bodyLimit: 4096,
        },
      },
    }),
  },
})

const failures = resource({
  tag: 'Failures',
  description: 'What goes wrong.',
  errorForm: unnamedForm,
  procedures: {
    fail: query({
      access: 'reader',
      input: z.object({ how: z.string() }),
      output: z.object({ version: z.int(), text: z.string().or(z.bigint()) }),
      errors: [503],
      meta: {
        openapi: {
          method: 'GET',
          path: '/failures/{how}',
          operationId: 'fail',
          summary: 'Fail',
          description: 'In one of many ways.',
          etag: 'version',
          headers: {
            'X-First': { description: 'Set before another fails.', value: () => 'first' },
            'X-Text': {
              description: 'Chosen by the procedure.',
              value: ({ output }) => (output.text === 'bad\nheader' ? String(output.text) : undefined),
            },
          },
        },
      },
    }),
    failWriting: mutation({
      access: 'writer',
      input: z.object({ how: z.string() }),
      output: z.object({ text: z.string() }),
      meta: {
        openapi: {
          method: 'PUT',
          path: '/failures/{how}',
          operationId: 'failWriting',
          summary: 'Fail to write',
          description: 'Likewise.',
          response: z.object({ text: z.literal('never') }),
        },
      },
    }),
  },
})

const home = resource({
  tag: 'Home',
  description: 'Where the way begins.',
  errorForm: otherUnnamedForm,
  procedures: {
    get: query({
      access: 'reader',
      input: z.object({}),
      output: z.object({ star: z.string() }),
      meta: {
        openapi: {
          method: 'GET',
          path: '/',
          operationId: 'getHome',
          summary: 'Home',
        },
      },
    }),
  },
})

export const contract = { planets, moons, probes, failures, home }

export interface SkyContext {
  caller: string
}

const venus = { id: 2, name: 'Venus', kind: 'rock' as const, radius: 6051.8, ringed: false, version: 3 }
const saturn = { id: 6, name: 'Saturn', kind: 'gas' as const, radius: 58232, ringed: true, version: 12 }
const bodies = [venus, saturn]

function find(id: number) {
  const found = bodies.find((body) => body.id === id)
  if (found === undefined) throw new ApiError(404, 'Planet not found')
  return found
}

const MOONS: Record<number, string[]> = { 2: [], 6: ['Titan', 'Rhea'] }

/** A secret in every unexpected error. It must never appear in a response. */
export const INNER_SECRET = 'inner-secret-4711'

const implementation: Implementation<typeof contract, SkyContext> = {
  planets: {
    list: async ({ kind, ringed, radius_lt, limit }) => {
      const found = bodies.filter(
        (body) =>
          (kind === undefined || body.kind === kind) &&
          (ringed === undefined || body.ringed === ringed) &&
          (radius_lt === undefined || body.radius < radius_lt),
      )
      const inner = { internal: INNER_SECRET }
      return { planets: found.slice(0, limit), total: found.length, ...inner }
    },
    get: async ({ id }) => find(id),
    create: async ({ name, kind, radius, ringed, key }) => {
      if (key === 'taken') throw new ApiError(409, 'The key was used')
      return { id: 9, name, kind, radius, ringed, version: 1 }
    },
    createMany: async ({ planets }) => ({
      planets: planets.map((planet, index) => ({ id: index + 9, ...planet, version: 1 })),
    }),
    replace: async ({ id, if_version, ...planet }) => {
      const { version } = find(id)
      if (if_version !== undefined && !if_version.includes(version)) throw new ApiError(412, 'Another version')
      return { id, ...planet, version: version + 1 }
    },
    delete: async ({ id }) => ({ message: `${find(id).name} is gone` }),
  },
  moons: {
    list: async ({ planet_id }) => ({ moons: MOONS[planet_id] ?? [] }),
    get: async ({ name }) => ({ name }),
  },
  probes: {
    look: async (input) => ({ seen: input }),
    send: async (input) => ({ seen: input }),
  },
  failures: {
    fail: async ({ how }) => fail(how) as { version: number; text: string },
    failWriting: async ({ how }) => fail(how) as { text: string },
  },
  home: { get: async () => ({ star: 'Sol' }) },
}

function fail(how: string): unknown {
  const failures: Record<string, () => unknown> = {
    error: () => {
      throw new Error(INNER_SECRET)
    },
    text: () => {
      throw INNER_SECRET
    },
    problem: () => {
      throw new ApiError(500, INNER_SECRET, { cause: new Error(INNER_SECRET) })
    },
    busy: () => {
      throw new ApiError(503, 'Busy', { headers: { 'Retry-After': '7' } })
    },
    known: () => {
      throw new RangeError(INNER_SECRET)
    },
    output: () => ({ version: 1, text: { [INNER_SECRET]: INNER_SECRET } }),
    bigint: () => ({ version: 1, text: 1n }),
    header: () => ({ version: 1, text: 'bad\nheader' }),
    slow: () => {
      const end = performance.now() + 5
      while (performance.now() < end);
      return { version: 1, text: 'fine' }
    },
  }
  return failures[how]?.() ?? { version: 1, text: 'fine' }
}

/** The operations of the sample contract; `translate` converts a RangeError to a 503. */
export function skyOperations() {
  return implement<typeof contract, SkyContext>(contract, implementation, {
    translate: (error) =>
      error instanceof RangeError
        ? new ApiError(503, 'Busy', { headers: { 'Retry-After': '7' }, cause: error })
        : undefined,
  })
}

export function skyDocument(form?: 'plain' | 'envelope') {
  return openApiDocument(contract, {
    ...(form && { form }),
    title: 'Sky',
    version: '1.2.3',
    description: 'Planets and moons.',
    contact: { name: 'Astronomers' },
    license: { name: 'MIT', identifier: 'MIT' },
    envelope,
    credentials: 'A key of the observatory.',
    everywhere: { headers: { 'X-Served-By': z.string().meta({ description: 'The server.' }) }, errors: [] },
  })
}
