import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from '@resource/client'
import { createTestServer } from '@resource/server/testing'
import { expect, test } from 'vitest'

const CALLS = 10_000

/** What the proxy may do to a request, with how many in a hundred. The rest passes. */
const TROUBLES = {
  // The service never sees it.
  'drop before': 1,
  html: 1,
  'too large': 0.5,
  unauthorized: 1,
  'rate limited': 1,
  busy: 1,
  // The service has done it, and the caller does not learn so, or learns it late or twice.
  'drop after': 3,
  truncate: 3,
  double: 3,
  delay: 3,
}
type Trouble = keyof typeof TROUBLES

/** The same numbers between 0 and 1 for the same seed (mulberry32). */
function dice(seed: number) {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let n = Math.imul(state ^ (state >>> 15), state | 1)
    n ^= n + Math.imul(n ^ (n >>> 7), n | 61)
    return ((n ^ (n >>> 14)) >>> 0) / 2 ** 32
  }
}

/** A proxy to a service that makes trouble; `await using` stops it. */
async function troublesomeProxy(target: string, roll: () => number) {
  const met = new Map<Trouble, number>()
  let requests = 0
  const choose = (): Trouble | undefined => {
    let at = roll() * 100
    for (const [trouble, share] of Object.entries(TROUBLES)) {
      at -= share
      if (at < 0) return trouble as Trouble
    }
    return undefined
  }
  const server = createServer(async (req, res) => {
    requests++
    const trouble = choose()
    if (trouble) met.set(trouble, (met.get(trouble) ?? 0) + 1)
    const body = await buffer(req).catch(() => undefined)
    if (body === undefined) return
    const html = (status: number, headers = {}) =>
      res.writeHead(status, { 'Content-Type': 'text/html', ...headers }).end(`<html>${status}</html>`)
    const pass = async () => {
      const passed = request(`${target}${req.url}`, { method: req.method ?? 'GET', headers: req.headers }).end(body)
      const [answer] = await once(passed, 'response')
      return { answer, text: await buffer(answer) }
    }
    switch (trouble) {
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
      if (trouble === 'double') await pass()
      if (trouble === 'delay') await sleep(300)
      if (trouble === 'drop after') return req.socket.destroy()
      const { connection: _, ...headers } = answer.headers
      res.writeHead(answer.statusCode, headers)
      if (trouble === 'truncate') return res.write(text.subarray(0, text.length / 2), () => req.socket.destroy())
      return res.end(text)
    } catch {
      return req.socket.destroy()
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    met,
    requests: () => requests,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

test('10,000 writes through a troublesome proxy: each at most once, each acknowledged one exactly once', {
  timeout: 300_000,
}, async () => {
  await using server = await createTestServer()
  const roll = dice(7)
  await using proxy = await troublesomeProxy(server.url, roll)
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
    // Some callers lose patience, by a signal or by a time of their own.
    const fate = roll()
    const own =
      fate < 0.02
        ? { signal: AbortSignal.timeout(Math.ceil(fate * 1_000)) }
        : fate < 0.04
          ? { timeoutMs: 250 }
          : undefined
    const outcome = await clients[n % 2]?.items.create.mutate({ name, price: n }, own).then(
      () => 'created',
      (error) => error.code,
    )
    if (outcome === 'created') acknowledged.add(name)
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
  }
  const waiting = Array.from({ length: CALLS }, (_, n) => n)
  await Promise.all(
    Array.from({ length: 20 }, async () => {
      while (waiting.length > 0) {
        // Of one tick, one call or up to ten.
        await Promise.all(waiting.splice(0, Math.ceil(roll() * 10)).map(write))
      }
    }),
  )

  const stored: string[] = []
  for await (const { name } of createClient({ baseUrl: server.url }).items.iterate({ limit: 1000 })) stored.push(name)
  expect(new Set(stored).size, 'no write twice').toBe(stored.length)
  const lost = [...acknowledged].filter((name) => !stored.includes(name))
  expect(lost, 'no acknowledged write lost').toEqual([])
  expect(proxy.requests()).toBeLessThanOrEqual(CALLS * 1.3)
  expect([...proxy.met.keys()].sort()).toEqual(Object.keys(TROUBLES).sort())
  expect(outcomes.get('created')).toBeGreaterThan(CALLS * 0.9)
})
