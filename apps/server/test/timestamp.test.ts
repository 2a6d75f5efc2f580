import { timestamp } from '@resource/database'
import fc from 'fast-check'
import { expect, test } from 'vitest'

test('a timestamp is UTC with milliseconds', () => {
  expect(timestamp(new Date(Date.UTC(2026, 10, 21, 8, 30, 0, 5)))).toBe('2026-11-21T08:30:00.005Z')
  expect(timestamp(new Date(Date.UTC(2026, 10, 21, 23, 59, 59, 999)))).toBe('2026-11-21T23:59:59.999Z')
  expect(timestamp(new Date(-1))).toBe('1969-12-31T23:59:59.999Z')
})

test('a date has the format of Date.toISOString', () => {
  fc.assert(
    fc.property(fc.date({ noInvalidDate: true }), (date) => timestamp(date) === date.toISOString()),
    { numRuns: 2000 },
  )
  expect(() => timestamp(new Date(Number.NaN))).toThrow(RangeError)
})
