import { type Contract, contract, ROLES, type Role } from '@resource/contract'
import { describe, expect, test } from 'vitest'
import { createDocument } from '../src/document.ts'
import { CALLER_KINDS, type CallerKind, createCallers } from './callers.ts'
import { exampleOf, operationIds, seed, seededId } from './examples.ts'
import { startTestServer, type TestServer } from './harness.ts'
import { DIRECT, type Passage, PROXIED } from './proxies.ts'
import { exchangeBytes, parseAnswers } from './raw-http.ts'
import { inputOf, SPECIFIED } from './samples.ts'

const REFUSED: readonly CallerKind[] = ['none', 'wrong', 'revoked', 'expired']

/** The expected outcome for a caller of this kind at an operation that requires `access`. */
function outcomeFor(kind: CallerKind, access: Role): 401 | 403 | 'answered' {
  if (REFUSED.includes(kind)) return 401
  return ROLES.indexOf(kind as Role) < ROLES.indexOf(access) ? 403 : 'answered'
}

function outcomeOf(status: number): 401 | 403 | 'answered' {
  return status === 401 || status === 403 ? status : 'answered'
}

const pathItems = Object.values(createDocument().paths as Record<string, Record<string, StatedOperation>>)
const stated = new Map(
  pathItems.flatMap((item) => Object.values(item).map((operation) => [operation.operationId, operation['x-role']])),
)

/** The role that an example requires: that of the operation, except for a batch that deletes. */
function roleOf(input: unknown, access: Role): Role {
  return (input as { action?: string } | undefined)?.action === 'delete' ? 'admin' : access
}

interface StatedOperation {
  operationId: string
  'x-role': Role
}

describe('C51 over REST', () => {
  for (const operationId of operationIds) {
    const { method, path, json } = exampleOf(operationId)
    const access = roleOf(json, stated.get(operationId) as Role)

    test(`${operationId} (${method} ${path}) requires the role ${access}`, async () => {
      await using server = await startTestServer()
      await seed(server)
      const callers = await createCallers(server)
      server.logIn(undefined)
      const statuses: Partial<Record<CallerKind, number>> = {}
      for (const kind of CALLER_KINDS) {
        const authorization = callers[kind]
        const headers = authorization === undefined ? {} : { Authorization: authorization }
        statuses[kind] = (await server.request(method, path, { json, headers })).status
      }
      for (const kind of CALLER_KINDS) {
        expect(outcomeOf(statuses[kind] as number), kind).toBe(outcomeFor(kind, access))
      }
      // Refused requests change nothing, so the first permitted one succeeds. Only its creator can see a batch.
      if (path.includes('/batches/')) expect(statuses[access]).toBe(404)
      else expect(statuses[access]).toBeLessThan(300)
    })
  }
})

describe('C51 over tRPC', () => {
  for (const [noun, { procedures }] of Object.entries(contract)) {
    for (const [verb, procedure] of Object.entries(procedures)) {
      const { type } = procedure
      const example = inputOf(noun as keyof Contract, verb, seededId(noun))
      const access = roleOf(example, procedure.access as Role)
      const input = JSON.stringify(example)

      test(`${noun}.${verb} requires the role ${access}`, async () => {
        await using server = await startTestServer()
        await seed(server)
        const callers = await createCallers(server)
        const call = async (authorization: string | undefined) => {
          const headers = {
            'Content-Type': 'application/json',
            ...(authorization !== undefined && { Authorization: authorization }),
          }
          const url = `${server.url}/trpc/${noun}.${verb}`
          const answer =
            type === 'query'
              ? await fetch(`${url}?input=${encodeURIComponent(input)}`, { headers })
              : await fetch(url, { method: 'POST', headers, body: input })
          return {
            status: answer.status,
            challenge: answer.headers.get('www-authenticate'),
            body: (await answer.json()) as { error: { data: object } },
          }
        }
        const statuses: Partial<Record<CallerKind, number>> = {}
        for (const kind of CALLER_KINDS) {
          const { status, challenge, body } = await call(callers[kind])
          const outcome = outcomeFor(kind, access)
          expect(outcomeOf(status), kind).toBe(outcome)
          if (outcome === 401) {
            expect(challenge).toMatch(/^Bearer realm="resource"/)
            expect(body.error.data).toMatchObject({ code: 'UNAUTHORIZED', httpStatus: 401, path: `${noun}.${verb}` })
          }
          if (outcome === 403) expect(body.error.data).toMatchObject({ code: 'FORBIDDEN', httpStatus: 403 })
          statuses[kind] = status
        }
        expect(statuses[access]).toBe(['getBatch', 'applyBatch'].includes(verb) ? 404 : 200)
      })
    }
  }
})

interface Call {
  name: string
  method: string
  path: string
  body?: string
}

/** One request for each operation over REST and tRPC, and one for the metrics. */
const everything: Call[] = [
  { name: 'metrics', method: 'GET', path: '/metrics' },
  ...operationIds.map((name): Call => {
    const { method, path, json } = exampleOf(name)
    return { name, method, path, ...(json !== undefined && { body: JSON.stringify(json) }) }
  }),
  ...Object.entries(contract).flatMap(([noun, { procedures }]) =>
    Object.entries(procedures).map(([verb, { type }]): Call => {
      const name = `${noun}.${verb}`
      const input = JSON.stringify(inputOf(noun as keyof Contract, verb, seededId(noun)))
      if (type === 'mutation') return { name, method: 'POST', path: `/trpc/${name}`, body: input }
      return { name, method: 'GET', path: `/trpc/${name}?input=${encodeURIComponent(input)}` }
    }),
  ),
]

/** The status of each operation for a request with this passage, and the body of each response. */
async function outcomes({ url }: TestServer, { version = '1.1', headers }: Passage, calls: Call[]) {
  const statuses: Record<string, number> = {}
  const bodies: string[] = []
  for (const { name, method, path, body } of calls) {
    const lines = [`${method} ${path} HTTP/${version}`, 'Host: 127.0.0.1', 'Connection: close']
    for (const [header, value] of Object.entries(headers)) lines.push(`${header}: ${value}`)
    if (body !== undefined) lines.push('Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`)
    const [answer] = parseAnswers(await exchangeBytes(url, Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body ?? ''}`)))
    statuses[name] = answer?.status ?? 0
    bodies.push(String(answer?.body))
  }
  return { statuses, bodies }
}

const everyCall = (status: number) => Object.fromEntries(everything.map(({ name }) => [name, status]))
const isKeyCreation = ({ name }: Call) => /^createKey$|^keys\.create$/.test(name)

describe('without credentials', () => {
  for (const [name, { sign, ...passage }] of Object.entries(PROXIED)) {
    test(`a proxied request (${name}) gets a 401 from every operation, with the reason and a remedy`, async () => {
      await using server = await startTestServer()
      const { statuses, bodies } = await outcomes(server, passage, everything)
      expect(statuses).toEqual(everyCall(401))
      for (const text of bodies) {
        expect(text).toContain(`came through a proxy (${sign})`)
        expect(text).toContain('Send Authorization: Bearer with an API key')
        expect(text).toContain('resource keys create --name operator --role admin')
      }
    })
  }

  for (const [kind, passage] of Object.entries(DIRECT)) {
    test(`C50 a direct request, ${kind}, is accepted by every operation`, async () => {
      for (const creation of everything.filter(isKeyCreation)) {
        await using server = await startTestServer()
        const calls = [...everything.filter((call) => !isKeyCreation(call)), creation]
        const { statuses } = await outcomes(server, passage, calls)
        for (const { name } of calls) expect([name, outcomeOf(statuses[name] as number)]).toEqual([name, 'answered'])
      }
    })
  }

  test('with TRUST_PROXY every operation rejects every request with a 401', async () => {
    await using server = await startTestServer({ TRUST_PROXY: 'loopback', RATE_LIMIT: '0' })
    for (const passage of [...Object.values(DIRECT), ...Object.values(PROXIED)]) {
      const { statuses, bodies } = await outcomes(server, passage, everything)
      expect(statuses).toEqual(everyCall(401))
      for (const text of bodies) expect(text).toContain('TRUST_PROXY is set')
    }
  })

  test('C51 with a key every operation rejects every request with a 401', async () => {
    await using server = await startTestServer({ RATE_LIMIT: '0' })
    await createCallers(server)
    const status = async () => (await fetch(`${server.url}/books`)).status
    await expect.poll(status).toBe(401)
    for (const passage of [...Object.values(DIRECT), ...Object.values(PROXIED)]) {
      expect((await outcomes(server, passage, everything)).statuses).toEqual(everyCall(401))
    }
  })
})

test('a proxied request with a key is accepted, whatever the settings', async () => {
  for (const environment of [{}, { TRUST_PROXY: 'loopback' }]) {
    await using server = await startTestServer({ RATE_LIMIT: '0', ...environment })
    const { admin } = await createCallers(server)
    for (const { version = '1.1', headers } of [...Object.values(DIRECT), ...Object.values(PROXIED)]) {
      const passage = { version, headers: { ...headers, Authorization: admin as string } }
      const { statuses } = await outcomes(server, passage, everything)
      for (const [name, status] of Object.entries(statuses))
        expect([name, outcomeOf(status)]).toEqual([name, 'answered'])
    }
  }
})

test('C51 readers may only read; only admins may delete many records, manage keys and read the audit log', () => {
  const roles = Object.entries(contract).flatMap(([noun, { procedures }]) =>
    SPECIFIED.includes(noun)
      ? Object.entries(procedures).map(([verb, { access }]) => [`${noun}.${verb}`, access] as const)
      : [],
  )
  const of = (role: Role) => roles.flatMap(([name, access]) => (access === role ? [name] : []))
  const reads = ['list', 'get', 'summarize', 'getBatch']
  expect(of('reader')).toEqual(['users', 'books', 'items'].flatMap((noun) => reads.map((verb) => `${noun}.${verb}`)))
  expect(of('admin')).toEqual([
    'users.deleteMany',
    'users.deleteByStatus',
    'books.deleteMany',
    'items.deleteMany',
    'keys.list',
    'keys.get',
    'keys.create',
    'keys.revoke',
    'audit.list',
    'audit.get',
  ])
})
