import { expect, test } from 'vitest'
import { csvRows, csvText, firstCsvRows, namedDelimiter } from '../src/csv.ts'

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
  const text = '\uFEFFname,note\r\n"a ""b""","x\r\ny"\r\n\r\n , \n6" pipe,""\nlast,""""'
  for (let size = 1; size <= text.length; size++) {
    expect(await rowsOf(text, size)).toEqual([
      [1, ['name', 'note']],
      [2, ['a "b"', 'x\r\ny']],
      [6, ['6" pipe', '']],
      [7, ['last', '"']],
    ])
  }
})

test('lines may end with CR alone, as spreadsheets on a Mac write them', async () => {
  const text = 'name,note\r"a\nb",x\r\rlast,y\r'
  for (let size = 1; size <= text.length; size++) {
    expect(await rowsOf(text, size)).toEqual([
      [1, ['name', 'note']],
      [2, ['a\nb', 'x']],
      [5, ['last', 'y']],
    ])
  }
})

test.each(['sep=;\r\n', '\uFEFFsep=;\n', '"sep=;"\r\n'])(
  'the line %j names the separator and is no row',
  async (line) => {
    const text = `${line}a;b\n1;2\n`
    expect(namedDelimiter(text)).toBe(';')
    for (let size = 1; size <= text.length; size++) {
      expect(await rowsOf(text, size, ';')).toEqual([
        [2, ['a', 'b']],
        [3, ['1', '2']],
      ])
    }
  },
)

test('a column can begin with sep=', async () => {
  expect(namedDelimiter('sep=,price\n')).toBeUndefined()
  expect(await rowsOf('sep=,price\n1,2\n', 3)).toEqual([
    [1, ['sep=', 'price']],
    [2, ['1', '2']],
  ])
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
