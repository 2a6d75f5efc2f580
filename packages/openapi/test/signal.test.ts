import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import type { TRPCError } from '@trpc/server'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { mutation, query } from '../src/contract.ts'
import { signalOf } from '../src/index.ts'
import { resourceOf, serve } from './small.ts'

const input = z.object({ id: z.int() })
const output = z.object({ id: z.int() })
const contract = {
  things: resourceOf({
    get: query({ input, output, meta: { openapi: { method: 'GET', path: '/things/{id}' } } }),
    wait: query({ input, output, meta: { openapi: { method: 'GET', path: '/things/{id}/slowly' } } }),
    make: mutation({ input, output, meta: { openapi: { method: 'POST', path: '/things' } } }),
  }),
}

const signals: AbortSignal[] = []
let started: () => void = () => undefined
const errors: string[] = []

async function wait({ id }: { id: number }, context: object) {
  const { signal } = context as { signal: AbortSignal }
  signals.push(signal)
  started()
  await setTimeout(10_000, undefined, { signal })
  return { id }
}

const small = await serve(
  contract,
  {
    things: {
      get: async ({ id }, context) => {
        signals.push((context as { signal: AbortSignal }).signal)
        return { id }
      },
      wait,
      make: wait,
    },
  },
  {
    context: (req) => ({
      get signal() {
        return signalOf(req)
      },
    }),
    onError: (error) => void errors.push((error as TRPCError).code),
  },
)

const one = encodeURIComponent('{"id":1}')
const two = encodeURIComponent('{"0":{"id":1},"1":{"id":2}}')

test.each([
  ['over REST', 'GET', '/things/1/slowly', 1],
  ['over REST with a body', 'POST', '/things', 1],
  ['over tRPC', 'GET', `/trpc/things.wait?input=${one}`, 1],
  ['over tRPC with a body', 'POST', '/trpc/things.make', 1],
  ['in a batch', 'GET', `/trpc/things.wait,things.wait?batch=1&input=${two}`, 2],
])('the signal of an implementation aborts %s when the client disconnects', async (_, method, path, calls) => {
  signals.length = 0
  errors.length = 0
  const isStarted = new Promise<void>((resolve) => {
    started = () => void (signals.length === calls && resolve())
  })
  const headers = method === 'POST' ? { 'Content-Type': 'application/json', 'Content-Length': 8 } : {}
  const req = httpRequest({ port: small.port, method, path, headers, agent: false })
  req.on('error', () => undefined)
  req.end(method === 'POST' ? '{"id":1}' : undefined)
  await isStarted
  expect(signals.map(({ aborted }) => aborted)).toEqual(Array(calls).fill(false))
  req.destroy()
  for (const signal of signals) if (!signal.aborted) await once(signal, 'abort')
  expect(new Set(signals).size).toBe(1)
  await setTimeout(20)
  // A disconnect is not a failure of the service.
  expect(errors).toEqual(Array(calls).fill('CLIENT_CLOSED_REQUEST'))
  expect((await small.request('GET', '/things/3')).body).toEqual({ id: 3 })
})

test.each([
  ['stops before its next query', 'GET', `/trpc/things.get,things.get?batch=1&input=${two}`, [1]],
  ['carries out all its writes', 'POST', '/trpc/things.make,things.make?batch=1', [1, 2]],
])('a batch whose client has gone while it waited for its turn %s', async (_, method, path, expected) => {
  const { promise: gone, resolve: leave } = Promise.withResolvers<void>()
  const called: number[] = []
  // Long enough for a turn after each call.
  const call = async ({ id }: { id: number }) => {
    called.push(id)
    for (const startMs = performance.now(); performance.now() - startMs < 5; );
    return { id }
  }
  const implementation = { things: { get: call, wait: call, make: call } }
  const turning = await serve(contract, implementation, {
    turn: async ({ res }) => {
      if (res === undefined || res.closed) return
      req.destroy()
      await once(res, 'close')
      leave()
    },
  })
  const headers = { 'Content-Type': 'application/json' }
  const req = httpRequest({ port: turning.port, method, path, headers, agent: false })
  req.on('error', () => undefined)
  req.end(method === 'POST' ? decodeURIComponent(two) : undefined)
  await gone
  expect((await turning.request('GET', '/things/3')).body).toEqual({ id: 3 })
  expect(called).toEqual([...expected, 3])
})

test('a signal does not abort after a complete response', async () => {
  signals.length = 0
  await small.request('GET', '/things/3')
  await small.request('GET', `/trpc/things.get?input=${one}`)
  await setTimeout(20)
  expect(signals.map(({ aborted }) => aborted)).toEqual([false, false])
})

test('a signal created after the client disconnected is aborted', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const { promise: seen, resolve: see } = Promise.withResolvers<boolean>()
  let socket: Socket | undefined
  const late = await serve(
    contract,
    {
      things: {
        get: async ({ id }) => ({ id }),
        wait: async ({ id }, context) => {
          started()
          await released
          see((context as { signal: AbortSignal }).signal.aborted)
          return { id }
        },
        make: async ({ id }) => ({ id }),
      },
    },
    {
      context: (req) => {
        socket = req.socket
        return {
          get signal() {
            return signalOf(req)
          },
        }
      },
    },
  )
  const isStarted = new Promise<void>((resolve) => {
    started = resolve
  })
  const req = httpRequest({ port: late.port, path: '/things/1/slowly', agent: false })
  req.on('error', () => undefined)
  req.end()
  await isStarted
  req.destroy()
  if (socket?.closed === false) await once(socket, 'close')
  release()
  expect(await seen).toBe(true)
})
