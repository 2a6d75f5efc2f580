import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from '@resource/client'
import { createTestServer } from '@resource/server/testing'
import { expect, test } from 'vitest'

const CALLS = 1_500

/** The faults that the proxy injects, each with its share of the requests in percent. The rest passes. */
const FAULTS = {
  // The service never receives the request.
  'drop before': 1,
  html: 1,
  'too large': 0.5,
  unauthorized: 1,
  'rate limited': 1,
  busy: 1,
  // The service executes the request, but the caller gets no response, a late one, or executes it twice.
  'drop after': 3,
  truncate: 3,
  double: 3,
  delay: 3,
}
type Fault = keyof typeof FAULTS

/** A generator of numbers from 0 to 1, the same for the same seed (mulberry32). */
function randomSequence(seed: number) {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let n = Math.imul(state ^ (state >>> 15), state | 1)
    n ^= n + Math.imul(n ^ (n >>> 7), n | 61)
    return ((n ^ (n >>> 14)) >>> 0) / 2 ** 32
  }
}

/** A proxy to a service that injects faults; `await using` stops it. */
async function startFaultyProxy(target: string, random: () => number) {
  const injected = new Map<Fault, number>()
  let requests = 0
  const choose = (): Fault | undefined => {
    let at = random() * 100
    for (const [fault, share] of Object.entries(FAULTS)) {
      at -= share
      if (at < 0) return fault as Fault
    }
    return undefined
  }
  const server = createServer(async (req, res) => {
    requests++
    const fault = choose()
    if (fault) injected.set(fault, (injected.get(fault) ?? 0) + 1)
    const body = await buffer(req).catch(() => undefined)
    if (body === undefined) return
    const html = (status: number, headers = {}) =>
      res.writeHead(status, { 'Content-Type': 'text/html', ...headers }).end(`<html>${status}</html>`)
    const pass = async () => {
      const passed = request(`${target}${req.url}`, { method: req.method ?? 'GET', headers: req.headers }).end(body)
      const [answer] = await once(passed, 'response')
      return { answer, text: await buffer(answer) }
    }
    switch (fault) {
      case 'drop before':
        return req.socket.destroy()
      case 'html':
        return html(502)
      case 'too large':
        return html(413)
      case 'unauthorized':
        return html(401)
      case 'rate limited':
        return html(429, { 'Retry-After': '0' })
      case 'busy':
        return html(503)
    }
    try {
      const { answer, text } = await pass()
      if (fault === 'double') await pass()
      if (fault === 'delay') await sleep(300)
      if (fault === 'drop after') return req.socket.destroy()
      const { connection: _, ...headers } = answer.headers
      res.writeHead(answer.statusCode, headers)
      if (fault === 'truncate') return res.write(text.subarray(0, text.length / 2), () => req.socket.destroy())
      return res.end(text)
    } catch {
      return req.socket.destroy()
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    injected,
    requests: () => requests,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

test('1,500 writes through a faulty proxy are each stored at most once, and acknowledged ones exactly once', {
  timeout: 300_000,
}, async () => {
  await using server = await createTestServer()
  const random = randomSequence(7)
  await using proxy = await startFaultyProxy(server.url, random)
  const options = {
    baseUrl: proxy.url,
    retryForMs: 20_000,
    retriesPerSecond: 200,
    onUnauthorized: () => true,
  }
  const clients = [createClient(options), createClient({ ...options, batch: false })]
  const acknowledged = new Set<string>()
  const outcomes = new Map<string, number>()
  const write = async (n: number) => {
    const name = `Item ${n}`
    // Some callers abort, by a signal or by a short timeout.
    const fate = random()
    const callOptions =
      fate < 0.02
        ? { signal: AbortSignal.timeout(Math.ceil(fate * 1_000)) }
        : fate < 0.04
          ? { timeoutMs: 250 }
          : undefined
    const outcome = await clients[n % 2]?.items.create.mutate({ name, price: n }, callOptions).then(
      () => 'created',
      (error) => error.code,
    )
    if (outcome === 'created') acknowledged.add(name)
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
  }
  const queue = Array.from({ length: CALLS }, (_, n) => n)
  await Promise.all(
    Array.from({ length: 20 }, async () => {
      while (queue.length > 0) {
        // One to ten calls start in the same tick.
        await Promise.all(queue.splice(0, Math.ceil(random() * 10)).map(write))
      }
    }),
  )

  const stored: string[] = []
  for await (const { name } of createClient({ baseUrl: server.url }).items.iterate({ limit: 1000 })) stored.push(name)
  expect(new Set(stored).size, 'no write twice').toBe(stored.length)
  const lost = [...acknowledged].filter((name) => !stored.includes(name))
  expect(lost, 'no acknowledged write lost').toEqual([])
  expect(proxy.requests()).toBeLessThanOrEqual(CALLS * 1.3)
  expect([...proxy.injected.keys()].sort()).toEqual(Object.keys(FAULTS).sort())
  expect(outcomes.get('created')).toBeGreaterThan(CALLS * 0.9)
})
