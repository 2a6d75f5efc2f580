import { contract } from '@resource/contract'
import { expect, test } from 'vitest'
import type { z } from 'zod'
import { fieldOf, parseInput } from '../src/resources/field.ts'
import { csvOf, readCsv } from '../src/transfer/csv.ts'
import { readSource } from '../src/transfer/source.ts'

const { shape } = contract.users.procedures.create.input
const fields = (['name', 'email', 'age'] as const).map((name) => fieldOf(name, name, shape[name] as z.ZodType))

function read(name: string, ...parts: BlobPart[]) {
  return readSource(new File(parts, name), fields)
}

test('a CSV file may have a byte order mark, CRLF, empty lines, quotes and semicolons', async () => {
  const { rows, ignored } = await read(
    'users.csv',
    '\uFEFFname;email;age;note\r\n\r\n"Hoare; Tony";tony@example.com;90;"two\r\nlines"\r\n;;;\r\n"""Q""";q@example.com;;\r\n',
  )
  expect(rows.map(({ record }) => record)).toEqual([
    { name: 'Hoare; Tony', email: 'tony@example.com', age: 90 },
    { name: '"Q"', email: 'q@example.com' },
  ])
  expect(rows.map(({ errors }) => errors)).toEqual([[], []])
  expect(ignored).toEqual(['note'])
})

test('a row with too many or too few cells is invalid; other rows are not affected', async () => {
  const { rows } = await read('users.csv', 'name,email,age\nA,a@example.com,1,9\nB,b@example.com\nC,c@example.com,3\n')
  expect(rows.map(({ errors }) => errors)).toEqual([
    ['Too many fields: expected 3 fields but parsed 4'],
    ['Too few fields: expected 3 fields but parsed 2'],
    [],
  ])
})

test('a file with an unclosed quote is rejected with the row', async () => {
  await expect(read('users.csv', 'name,email,age\nA,a@example.com,1\n"B,b@example.com,2\n')).rejects.toThrow(
    'Row 2: Quoted field unterminated',
  )
})

test('a file that is not UTF-8 is rejected', async () => {
  const latin1 = Uint8Array.from('name,email,age\nJosé,j@example.com,1\n', (letter) => letter.charCodeAt(0))
  await expect(read('users.csv', latin1)).rejects.toThrow('The file is not UTF-8: save it as "CSV UTF-8"')
})

test('a file larger than 50 MB is rejected before it is read', async () => {
  const huge = { name: 'users.csv', size: 50_000_001 } as File
  await expect(readSource(huge, fields)).rejects.toThrow('The file is larger than 50 MB')
})

test('invalid JSON is rejected with its position', async () => {
  await expect(read('users.json', '[\n  {"name": "A"},\n  {"name" "B"}\n]')).rejects.toThrow(
    /The JSON array is invalid: .*line 3/,
  )
  await expect(read('users.ndjson', '{"name":"A"}\n{"name"\n')).rejects.toThrow('Line 2 is not valid JSON')
  await expect(read('users.json', '[{"name":"A"}, 7]')).rejects.toThrow('Row 2 must be a JSON object')
  await expect(read('users.json', '[]')).rejects.toThrow('The file contains no rows')
})

test('a JSON string is not a number; CSV text is a number only in decimal notation', async () => {
  const json = await read('users.json', '[{"name":"A","email":"a@example.com","age":"36"}]')
  expect(json.rows[0]?.errors).toEqual(['age: must be a whole number from 0 to 150'])
  const csv = await read(
    'users.csv',
    'name,email,age\nA,a@example.com,36\nB,b@example.com,0x24\nC,c@example.com,Infinity\n',
  )
  expect(csv.rows.map(({ errors }) => errors.length)).toEqual([0, 1, 1])
})

test('a duplicate address is an error, regardless of case; missing addresses are not duplicates', async () => {
  const { rows } = await read('users.csv', 'name,email\nA,a@example.com\nB,A@EXAMPLE.com\nC,\nD,\n')
  expect(rows.map(({ errors }) => errors)).toEqual([
    [],
    ['email: already in row 1'],
    ['email: is required'],
    ['email: is required'],
  ])
})

test('CSV cells that a spreadsheet would run as formulas are escaped, and reading restores them', () => {
  const values = ['=1+1', '+1', '-1', '@A1', "'=1", "it's", '\tx', 'a,"b"\n']
  const text = csvOf(
    ['@name', 'plain'],
    values.map((value) => ({ '@name': value, plain: -5 })),
  )
  expect(text.split('\r\n').slice(0, 3)).toEqual(["\uFEFF'@name,plain", "'=1+1,-5", "'+1,-5"])
  expect(readCsv(text).rows.map(({ values }) => values["'@name"])).toEqual(values)
})

test('a field defines the value of an empty input', () => {
  const fieldsOf = (verb: 'create' | 'update') =>
    Object.entries(contract.items.procedures[verb].input.shape).map(([name, schema]) => fieldOf(name, name, schema))
  const empty = (verb: 'create' | 'update') =>
    Object.fromEntries(fieldsOf(verb).map((field) => [field.name, parseInput(field, ' ')]))
  expect(empty('create')).toMatchObject({ name: '', price: undefined, category: null })
  expect(empty('update')).toMatchObject({ name: undefined, price: undefined, category: null })
})
