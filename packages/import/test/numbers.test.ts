import { expect, test } from 'vitest'
import { findDecimalComma, withDecimalPoint } from '../src/numbers.ts'

test('a number with a decimal comma is read with its groups of thousands, and no other text', () => {
  const read = (text: string) => withDecimalPoint(text)
  expect(['24,5', '1.024,50', '-1.000.000', '24', '0,125'].map(read)).toEqual([
    '24.5',
    '1024.50',
    '-1000000',
    '24',
    '0.125',
  ])
  expect(['1.5', '12.34,5', '1,2,3', '1,299.5', '', 'x'].map(read)).toEqual(Array(6).fill(undefined))
})

test('a decimal comma is recognized only if every number can have one', () => {
  expect(findDecimalComma(['7', '1.234,56', '1.234'])).toEqual({ number: '1.234,56', isAmbiguous: false })
  expect(findDecimalComma(['1,299', '0,125'])).toEqual({ number: '0,125', isAmbiguous: false })
  expect(findDecimalComma(['1,299', '24,5'])).toEqual({ number: '24,5', isAmbiguous: false })
  for (const point of ['1.5', '.5', '12,500.75', '1,234,567']) expect(findDecimalComma(['24,5', point])).toBe(undefined)
  expect(findDecimalComma(['7', '1.234', 'x'])).toBe(undefined)
})

test('numbers whose commas could stand between thousands are ambiguous', () => {
  expect(findDecimalComma(['1,299', '3,450'])).toEqual({ number: '1,299', isAmbiguous: true })
})
