import type { ServerResponse } from 'node:http'
import type { Database } from '@resource/database'
import type { Request } from 'express'
import pino from 'pino'
import { expect, test } from 'vitest'
import type { Access } from '../src/access/access.ts'
import { createLimits } from '../src/limits/limits.ts'
import { readConfig } from '../src/process/config.ts'

test('after a long read was refused, further requests of its source for the same path are refused first, until fewer wait', () => {
  const waiting = new Set(['key 1'])
  const database = { isOverloaded: (caller?: string) => caller !== undefined && waiting.has(caller) } as Database
  const limits = createLimits(readConfig({}), {} as Access, () => 0, database, pino({ level: 'silent' }))
  const request = (token: string, url: string) => ({ headers: { authorization: `Bearer ${token}` }, url }) as Request
  const isRefused = (token: string, url: string) =>
    limits.isOverloaded(request(token, url), {} as ServerResponse, false)

  expect(isRefused('a', '/items?limit=1000')).toBe(false)
  limits.refuseNext(request('a', '/items?limit=1000'), 'key 1')
  expect(isRefused('a', '/items?limit=999&page=2')).toBe(true)
  expect(isRefused('a', '/items/1')).toBe(false)
  expect(isRefused('b', '/items?limit=1000')).toBe(false)
  waiting.clear()
  expect(isRefused('a', '/items?limit=1000')).toBe(false)
  expect(limits.refused().overload).toBe(1)
})
