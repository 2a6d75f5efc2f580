import { type Contract, contract, ROLES, type Role } from '@resource/contract'
import { describe, expect, test } from 'vitest'
import { createDocument } from '../src/document.ts'
import { CALLER_KINDS, type CallerKind, createCallers } from './callers.ts'
import { exampleOf, operationIds, seed, seededId } from './examples.ts'
import { preparedServers } from './harness.ts'
import { DECISION, inputOf, SPECIFIED } from './samples.ts'

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

/** The role that an example requires: that of the operation, except for decisions and a deletion by status. */
function roleOf(input: unknown, access: Role, operationId?: string): Role {
  if (input === DECISION) return 'writer'
  return operationId === 'deleteUsersByStatus' ? 'admin' : access
}

const isSession = (path: string) => path.startsWith('/api/sessions/')

interface StatedOperation {
  operationId: string
  'x-role': Role
}

const startSeeded = preparedServers(async (server) => {
  await seed(server)
  return createCallers(server)
})

describe('C51 over REST', () => {
  for (const operationId of operationIds) {
    const { method, path, json } = exampleOf(operationId)
    const access = roleOf(json, stated.get(operationId) as Role, operationId)

    test(`${operationId} (${method} ${path}) requires the role ${access}`, async () => {
      await using server = await startSeeded()
      const { prepared: callers } = server
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
      // Refused requests change nothing, so the first permitted one succeeds. The session is of an administrator.
      expect(statuses[isSession(path) ? 'admin' : access]).toBeLessThan(300)
    })
  }
})

describe('C51 over tRPC', () => {
  for (const [noun, { procedures }] of Object.entries(contract)) {
    for (const [verb, procedure] of Object.entries(procedures)) {
      const { type } = procedure
      const example = inputOf(noun as keyof Contract, verb, seededId(noun))
      const isDecision = verb === 'setStatus' && noun === 'proposals'
      const access = roleOf(isDecision ? DECISION : example, procedure.access as Role)
      const input = JSON.stringify(example)

      test(`${noun}.${verb} requires the role ${access}`, async () => {
        await using server = await startSeeded()
        const { prepared: callers } = server
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
        expect(statuses[noun === 'sessions' ? 'admin' : access]).toBe(
          `${noun}.${verb}` === 'reversals.create' ? 404 : 200,
        )
      })
    }
  }
})

test('C51 readers may only read, proposers also propose; only admins may manage keys and read the audit log', () => {
  const roles = Object.entries(contract).flatMap(([noun, { procedures }]) =>
    SPECIFIED.includes(noun)
      ? Object.entries(procedures).map(([verb, { access }]) => [`${noun}.${verb}`, access] as const)
      : [],
  )
  const of = (role: Role) => roles.flatMap(([name, access]) => (access === role ? [name] : []))
  const reads = ['list', 'get', 'summarize']
  expect(of('reader')).toEqual([
    ...['users', 'books', 'items'].flatMap((noun) => reads.map((verb) => `${noun}.${verb}`)),
    // Their own.
    ...['list', 'get', 'end'].map((verb) => `sessions.${verb}`),
    'changes.list',
    'reversals.open',
  ])
  expect(of('proposer')).toEqual([
    'previews.create',
    ...['list', 'get', 'create', 'setStatus'].map((verb) => `proposals.${verb}`),
  ])
  expect(of('admin')).toEqual([
    'keys.list',
    'keys.get',
    'keys.create',
    'keys.rotate',
    'keys.revoke',
    'audit.list',
    'audit.get',
  ])
})
