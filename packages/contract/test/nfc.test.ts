import { expect, test } from 'vitest'
import { nfc, text } from '../src/fields.ts'

test('no character decomposes into more than four, the bound up to which a text is normalized', () => {
  let most = 0
  for (let code = 0; code <= 0x10ffff; code++) {
    const { length } = [...String.fromCodePoint(code).normalize('NFD')]
    most = Math.max(most, length)
  }
  expect(most).toBe(4)
})

test('a text is normalized if it may have the length in any form, and otherwise left as it is', () => {
  // Composed from four: alpha with three marks.
  const four = '\u03b1\u0313\u0300\u0345'
  expect(nfc(four.repeat(200), 200)).toBe('\u1f82'.repeat(200))
  expect(nfc(four.repeat(201), 200)).toBe(four.repeat(201))
  expect(nfc(four.repeat(201))).toBe('\u1f82'.repeat(201))
  expect(text(1, 200).parse(four.repeat(200))).toBe('\u1f82'.repeat(200))
})

test('a text that is too long in NFC is refused for its length alone', () => {
  for (const long of ['a'.repeat(201), `a${'\u0301'.repeat(100_000)}`, '\ud800'.repeat(300), '\u0958'.repeat(101)]) {
    expect(
      text(1, 200)
        .safeParse(long)
        .error?.issues.map(({ message }) => message),
    ).toEqual(['must be text of 1 to 200 characters'])
  }
  // Two UTF-16 units become one, and four characters one.
  expect(text(1, 2).parse('\u{2f800}\u{2f800}')).toBe('\u4e3d\u4e3d')
})
