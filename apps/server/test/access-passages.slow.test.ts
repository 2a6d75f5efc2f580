// Whether a request may use the service without a key follows from the request and the settings, before any database
// access, so these tests run on SQLite only.
import { type Contract, contract } from '@resource/contract'
import { describe, expect, test } from 'vitest'
import { createCallers } from './callers.ts'
import { exampleOf, operationIds, seededId } from './examples.ts'
import { startTestServer, type TestServer } from './harness.ts'
import { DIRECT, LOOPBACK_HEADERS, type Passage, PROXIED } from './proxies.ts'
import { exchangeBytes, parseAnswers } from './raw-http.ts'
import { inputOf } from './samples.ts'

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

const SHARES = 16
/** The calls for the passage of this index: all for the first, a sixteenth for each other, so that every call has several. */
const shareOf = (index: number) => everything.filter((_, n) => index === 0 || n % SHARES === index % SHARES)
const everyCall = (status: number, calls: Call[]) => Object.fromEntries(calls.map(({ name }) => [name, status]))
/** The operations that refused the caller or gave no response. */
const unanswered = (statuses: Record<string, number>) =>
  Object.entries(statuses).filter(([, status]) => [0, 401, 403].includes(status))
const isKeyCreation = ({ name }: Call) => /^createKey$|^keys\.create$/.test(name)

describe('without credentials', () => {
  for (const [index, [name, { sign, ...passage }]] of Object.entries(PROXIED).entries()) {
    test(`a proxied request (${name}) gets a 401 from every operation, with the reason and a remedy`, async () => {
      await using server = await startTestServer()
      const calls = shareOf(index)
      const { statuses, bodies } = await outcomes(server, passage, calls)
      expect(statuses).toEqual(everyCall(401, calls))
      for (const text of bodies) {
        expect(text).toContain(`came through a proxy (${sign})`)
        expect(text).toContain('Send Authorization: Bearer with an API key')
        expect(text).toContain('resource keys create --name operator --role admin')
      }
    })
  }

  test('no header that names loopback cancels the sign of a proxy in another one', async () => {
    await using server = await startTestServer()
    const calls = everything.filter(({ name }) => name === 'listBooks')
    const loopback = [
      {},
      ...Object.entries(LOOPBACK_HEADERS).map(([name, value]) => ({ [name]: value })),
      LOOPBACK_HEADERS,
      ...Object.values(DIRECT).map(({ headers }) => headers),
    ]
    for (const others of loopback) {
      for (const [name, { version, headers }] of Object.entries(PROXIED)) {
        const isComplete = 'X-Forwarded-For' in others && 'X-Forwarded-Host' in others
        // With the other headers of a development proxy these are its own.
        if (isComplete && /^X-Forwarded-(Proto http|Port) without/.test(name)) continue
        const before = { ...others, ...headers }
        const after = { ...headers, ...Object.fromEntries(Object.entries(others).filter(([key]) => !(key in headers))) }
        for (const sent of [before, after]) {
          const { statuses } = await outcomes(server, { ...(version && { version }), headers: sent }, calls)
          expect([name, sent, statuses]).toEqual([name, sent, { listBooks: 401 }])
        }
      }
    }
  })

  for (const [name, value] of Object.entries(LOOPBACK_HEADERS)) {
    test(`C50 a request with ${name}: ${value} alone counts as direct`, async () => {
      await using server = await startTestServer()
      const calls = everything.filter((call) => call.name === 'listBooks')
      expect((await outcomes(server, { headers: { [name]: value } }, calls)).statuses).toEqual({ listBooks: 200 })
    })
  }

  for (const [kind, passage] of Object.entries(DIRECT)) {
    test(`C50 a direct request, ${kind}, is accepted by every operation`, async () => {
      const others = everything.filter((call) => !isKeyCreation(call))
      // The first key ends the anonymous access, so each creation is the last call of its server.
      for (const [index, creation] of everything.filter(isKeyCreation).entries()) {
        await using server = await startTestServer()
        const calls = index === 0 ? [...others, creation] : [creation]
        expect(unanswered((await outcomes(server, passage, calls)).statuses)).toEqual([])
      }
    })
  }

  test('with TRUST_PROXY every operation rejects every request with a 401', async () => {
    await using server = await startTestServer({ TRUST_PROXY: 'loopback', RATE_LIMIT: '0' })
    for (const [index, passage] of [...Object.values(DIRECT), ...Object.values(PROXIED)].entries()) {
      const calls = shareOf(index)
      const { statuses, bodies } = await outcomes(server, passage, calls)
      expect(statuses).toEqual(everyCall(401, calls))
      for (const text of bodies) expect(text).toContain('TRUST_PROXY is set')
    }
  })

  test('C51 with a key every operation rejects every request with a 401', async () => {
    await using server = await startTestServer({ RATE_LIMIT: '0' })
    await createCallers(server)
    const status = async () => (await fetch(`${server.url}/books`)).status
    await expect.poll(status).toBe(401)
    for (const [index, passage] of [...Object.values(DIRECT), ...Object.values(PROXIED)].entries()) {
      const calls = shareOf(index)
      expect((await outcomes(server, passage, calls)).statuses).toEqual(everyCall(401, calls))
    }
  })
})

test('a proxied request with a key is accepted, whatever the settings', async () => {
  for (const environment of [{}, { TRUST_PROXY: 'loopback' }]) {
    await using server = await startTestServer({ RATE_LIMIT: '0', ...environment })
    const { admin } = await createCallers(server)
    const passages = [...Object.values(DIRECT), ...Object.values(PROXIED)]
    for (const [index, { version = '1.1', headers }] of passages.entries()) {
      const passage = { version, headers: { ...headers, Authorization: admin as string } }
      expect(unanswered((await outcomes(server, passage, shareOf(index))).statuses)).toEqual([])
    }
  }
})
