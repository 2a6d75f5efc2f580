import { expect, test } from 'vitest'
import { callerOf } from '../src/open-client.ts'

const tokenOf = (claims: object) => `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.signature`
const of = (key?: string) => callerOf({ key } as Parameters<typeof callerOf>[0])

test('a renewed token of a subject is the same caller; another subject, another key and no key are not', () => {
  expect(of(tokenOf({ sub: 'ada', exp: 1 }))).toBe(of(tokenOf({ sub: 'ada', exp: 2 })))
  const callers = [tokenOf({ sub: 'ada' }), tokenOf({ sub: 'bob' }), tokenOf({}), 'rsk_1', 'rsk_2', 'a.b', undefined]
  expect(new Set(callers.map(of)).size).toBe(callers.length)
})
