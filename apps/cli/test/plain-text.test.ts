import { expect, test } from 'vitest'
import { plainText } from '../src/plain-text.ts'

test('a description loses the sentences about requests', () => {
  expect(
    plainText(
      'The price. An id without a record gets a 404. Write only if unchanged; otherwise 412. The `ETag` header has it. The main API is `/api/users`. Set with `name`.',
    ),
  ).toBe('The price. Set with name.')
})

test.each([
  'Between 100 and 599 pieces.',
  'A pack of 450 g is 500 cents.',
  'The URL of the product page, such as https://example.com/a.',
  'Settings as JSON.',
  'The header of the page, in an envelope.',
  'The version of the HTTP server, and of its API.',
  'The word PUT or GET.',
])('the sentence "%s" stays', (sentence) => {
  expect(plainText(sentence)).toBe(sentence)
})
