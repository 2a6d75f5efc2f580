import { expect, test } from 'vitest'
import { refusals } from './samples.ts'

test('the service accepts the generated records of every collection', () => {
  const remedies = Object.entries(refusals).map(
    ([noun, message]) =>
      `${noun}: ${message}. Tests of all resources omit it until packages/contract/src/samples/samples.ts describes records of ${noun} that the service accepts.`,
  )
  expect(remedies).toEqual([])
})
