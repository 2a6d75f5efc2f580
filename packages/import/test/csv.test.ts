import { expect, test } from 'vitest'
import { csvRows, csvText, firstCsvRows } from '../src/csv.ts'

/** The rows of a text that arrives in parts of this length. */
async function rowsOf(text: string, size: number, delimiter = ',') {
  async function* parts() {
    for (let at = 0; at < text.length; at += size) yield text.slice(at, at + size)
  }
  const rows: [number, string[]][] = []
  for await (const { line, cells } of csvRows(parts(), delimiter)) rows.push([line, cells])
  return rows
}

test('a file has the same rows in whatever parts it arrives', async () => {
  const text = '\uFEFFname,note\r\n"a ""b""","x\r\ny"\r\n\r\n , \n6" pipe,""\rlast,""""'
  for (let size = 1; size <= text.length; size++) {
    expect(await rowsOf(text, size)).toEqual([
      [1, ['name', 'note']],
      [2, ['a "b"', 'x\r\ny']],
      [6, ['6" pipe', '']],
      [7, ['last', '"']],
    ])
  }
})

test('cells are separated by any character', async () => {
  for (const delimiter of [';', '\t', '|', '.', '^', '\\', ']'])
    expect(await rowsOf(`a${delimiter}"b${delimiter}c"\n`, 2, delimiter)).toEqual([[1, ['a', `b${delimiter}c`]]])
})

test.each([
  ['a\n"b\nc', 'Line 2: the quote of a cell is not closed'],
  ['a\nb\n"c" d\n', 'Line 3: a cell must end after its closing quote'],
  ['a\n"c" d', 'Line 2: a cell must end after its closing quote'],
  [`a\n${'x'.repeat(1024 * 1024 + 1)}`, 'Line 2: a row must be at most 1048576 characters'],
])('invalid text is refused with its line, whatever its parts: %#', async (text, message) => {
  for (const size of [1, 2, 3, text.length]) {
    if (text.length < 100 || size === text.length) await expect(rowsOf(text, size)).rejects.toThrow(message)
  }
})

test('the beginning of a file may end within a cell', () => {
  expect(firstCsvRows('a,b\n1,2\n3,"4', ',', 9)).toEqual([
    ['a', 'b'],
    ['1', '2'],
  ])
  expect(firstCsvRows('a,b\n1,2\n3,4', ',', 2).length).toBe(2)
})

test('written CSV has quotes where they are needed, and reads as it was', async () => {
  const cells = ['plain', 'a;b', 'a,b', 'a"b', 'a\nb', ' a ', '', '=1', "it's"]
  expect(csvText([['plain', 'a;b', 'a"b', ' a', 5, true, null, undefined, { x: 1 }]], ';')).toBe(
    'plain;"a;b";"a""b";" a";5;true;;;"{""x"":1}"\n',
  )
  expect(await rowsOf(csvText([cells]), 3)).toEqual([[1, cells]])
})
