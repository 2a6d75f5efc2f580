import { contract } from '@resource/contract'
import { expect, test } from 'vitest'
import { fieldOf, parseInput } from '../src/resources/field.ts'
import { describe } from '../src/resources/resource.ts'
import { csvOf, readCsv } from '../src/transfer/csv.ts'
import { chunkEnd } from '../src/transfer/import.ts'
import { recordOf } from '../src/transfer/mapping.ts'
import { checkRows, guessSettings, modesOf } from '../src/transfer/rows.ts'
import { readTable, type Table } from '../src/transfer/table.ts'

const users = describe('users', contract.users.collection)
const items = describe('items', contract.items.collection)

function read(name: string, ...parts: BlobPart[]) {
  return readTable(new File(parts, name))
}

/** The rows of a file with the guessed settings. */
function rowsOf(resource: typeof users, table: Table) {
  return checkRows(resource, table, guessSettings(resource, table))
}

test('a CSV file may have a byte order mark, CRLF, empty lines, quotes and semicolons', async () => {
  const table = await read(
    'users.csv',
    '\uFEFFname;email;age;note\r\n\r\n"Hoare; Tony";tony@example.com;90;"two\r\nlines"\r\n;;;\r\n"""Q""";q@example.com;;\r\n',
  )
  expect(table.separator).toBe(';')
  expect(table.columns).toEqual(['name', 'email', 'age', 'note'])
  const rows = rowsOf(users, table)
  expect(rows.map(({ line, record, errors }) => ({ line, record, errors }))).toEqual([
    { line: 3, record: { name: 'Hoare; Tony', email: 'tony@example.com', age: 90 }, errors: [] },
    { line: 6, record: { name: '"Q"', email: 'q@example.com' }, errors: [] },
  ])
})

test('columns with other names are mapped by a guess; an ambiguous id is not', async () => {
  const guess = async (resource: typeof users, header: string) =>
    guessSettings(resource, await read('file.csv', `${header}\n${header}\n`)).mapping
  expect(await guess(users, 'Full name,E-Mail address,AGE (years),Status,created_at')).toEqual({
    'Full name': 'name',
    'E-Mail address': 'email',
    'AGE (years)': 'age',
    Status: 'status',
  })
  expect(await guess(items, 'Team ID,Unit price,item name,Catégory')).toEqual({
    'Unit price': 'price',
    'item name': 'name',
    Catégory: 'category',
  })
})

test('a file with ids updates records, and creates those without an id; other files create', async () => {
  const modeOf = async (text: string) => guessSettings(users, await read('users.csv', text)).mode
  expect(await modeOf('id,name\n7,A\n8,B\n')).toEqual({ action: 'update', key: 'id' })
  expect(await modeOf('User ID,name\n7,A\n,B\n')).toEqual({ action: 'upsert', key: 'id' })
  expect(await modeOf('name,email\nA,a@example.com\n')).toEqual({ action: 'create', key: 'id' })
  expect(modesOf(users, { Mail: 'email' }).map(({ action, key }) => `${action} ${key}`)).toEqual([
    'create id',
    'update email',
    'upsert email',
  ])
})

test('a row that updates a record needs its key and no other field', async () => {
  const table = await read('users.csv', 'id,name,email,age\n7,A,,\n,B,b@example.com,200\n7,,c@example.com,3\nx,D,,\n')
  const rows = checkRows(users, table, { ...guessSettings(users, table), mode: { action: 'update', key: 'id' } })
  expect(rows.map(({ record, errors }) => [record, errors])).toEqual([
    [{ id: 7, name: 'A' }, []],
    [{ name: 'B', email: 'b@example.com', age: 200 }, ['id: is required', 'age: must be a whole number from 0 to 150']],
    [{ id: 7, email: 'c@example.com', age: 3 }, ['id: already in line 2']],
    [{ id: 'x', name: 'D' }, ['id: must be a whole number from 1 to 2147483647']],
  ])
})

test('a cell with only spaces is empty and changes nothing, except as a password', async () => {
  const table = await read('users.csv', 'id,name,age,password\n7,A, ,        \n ,B,3,\n')
  const settings = guessSettings(users, table)
  expect(settings.mode.action).toBe('upsert')
  expect(checkRows(users, table, settings).map(({ record }) => record)).toEqual([
    { id: 7, name: 'A', password: '        ' },
    { name: 'B', age: 3 },
  ])
})

test('a decimal comma is guessed from the numbers, and only changes numbers', async () => {
  const table = await read('items.csv', 'name;price\nLamp 1,5;1.234,56\nRug;7\nChair; \nShelf;1,2,3\n')
  const settings = guessSettings(items, table)
  expect(settings.decimal).toBe(',')
  const rows = checkRows(items, table, settings)
  expect(rows.map(({ record }) => record)).toEqual([
    { name: 'Lamp 1,5', price: 1234.56 },
    { name: 'Rug', price: 7 },
    { name: 'Chair' },
    { name: 'Shelf', price: '1,2,3' },
  ])
  expect(rows.map(({ errors }) => errors.length)).toEqual([0, 0, 1, 1])
  const points = checkRows(items, table, { ...settings, decimal: '.' })
  expect(points.map(({ errors }) => errors.length)).toEqual([1, 0, 1, 1])
})

test('with a comma that may stand between thousands, no decimal comma is guessed, and no number is read in two ways', async () => {
  const english = await read('items.csv', 'name,price\nA,"1,000"\nB,"2,500.5"\nC,3\n')
  const prices = (rows: ReturnType<typeof checkRows>) => rows.map(({ record }) => record.price)
  expect(prices(rowsOf(items, english))).toEqual(['1,000', '2,500.5', 3])
  const ambiguous = await read('items.csv', 'name,price\nA,"1,299"\nB,1.5\n')
  expect(prices(rowsOf(items, ambiguous))).toEqual(['1,299', 1.5])
  const chosen = checkRows(items, ambiguous, { ...guessSettings(items, ambiguous), decimal: ',' })
  expect(prices(chosen)).toEqual([1.299, '1.5'])
  expect(chosen.map(({ errors }) => errors.length)).toEqual([0, 1])
})

test('a row with too many or too few cells is invalid; other rows are not affected', async () => {
  const table = await read('users.csv', 'name,email,age\nA,a@example.com,1,9\nB,b@example.com\nC,c@example.com,3\n')
  expect(rowsOf(users, table).map(({ errors }) => errors)).toEqual([
    ['has 4 cells, the first line has 3'],
    ['has 2 cells, the first line has 3'],
    [],
  ])
  expect(table.rows[0]?.values).toEqual({ name: 'A', email: 'a@example.com', age: '1', column_4: '9' })
})

test('a file with an unclosed quote or a repeated column is rejected', async () => {
  await expect(read('users.csv', 'name,email,age\nA,a@example.com,1\n"B,b@example.com,2\n')).rejects.toThrow(
    'Line 3: Quoted field unterminated',
  )
  await expect(read('users.csv', 'name,name\nA,B\n')).rejects.toThrow('The first line names "name" twice')
})

test('a file that is not UTF-8 is rejected', async () => {
  const latin1 = Uint8Array.from('name,email,age\nJosé,j@example.com,1\n', (letter) => letter.charCodeAt(0))
  await expect(read('users.csv', latin1)).rejects.toThrow('The file is not UTF-8: save it as "CSV UTF-8"')
})

test('a file larger than 50 MB is rejected before it is read', async () => {
  const huge = { name: 'users.csv', size: 50_000_001 } as File
  await expect(readTable(huge)).rejects.toThrow('The file is larger than 50 MB')
})

test('invalid JSON is rejected with its position', async () => {
  await expect(read('users.json', '[\n  {"name": "A"},\n  {"name" "B"}\n]')).rejects.toThrow(
    /The JSON array is invalid: .*line 3/,
  )
  await expect(read('users.ndjson', '{"name":"A"}\n{"name"\n')).rejects.toThrow('Line 2 is not valid JSON')
  await expect(read('users.json', '[{"name":"A"},\n 7]')).rejects.toThrow('Line 2 must be a JSON object')
  await expect(read('users.json', '[]')).rejects.toThrow('The file contains no rows')
})

test('each row of a JSON array has the line on which it starts', async () => {
  const { rows } = await read('items.json', '[\n{"name": "a]\\",", "tags": [\n1, {"x":\n2}]}, {},\n\n{"name":"c"}\n]')
  expect(rows.map(({ line }) => line)).toEqual([2, 4, 6])
})

test('a JSON string is not a number; CSV text is a number only in decimal notation', async () => {
  const json = rowsOf(users, await read('users.json', '[{"name":"A","email":"a@example.com","age":"36"}]'))
  expect(json[0]?.errors).toEqual(['age: must be a whole number from 0 to 150'])
  const csv = rowsOf(
    users,
    await read('users.csv', 'name,email,age\nA,a@example.com,36\nB,b@example.com,0x24\nC,c@example.com,Infinity\n'),
  )
  expect(csv.map(({ errors }) => errors.length)).toEqual([0, 1, 1])
})

test('a duplicate address is an error, regardless of case; missing addresses are not duplicates', async () => {
  const table = await read('users.csv', 'name,email\nA,a@example.com\nB,A@EXAMPLE.com\nC,\nD,\n')
  expect(rowsOf(users, table).map(({ errors }) => errors)).toEqual([
    [],
    ['email: already in line 2'],
    ['email: is required'],
    ['email: is required'],
  ])
})

test('a request has at most 500 rows and 1,000,000 characters, but at least one row', () => {
  const rows = (length: number, count: number) =>
    Array.from({ length: count }, () => ({ line: 1, raw: {}, record: { name: 'x'.repeat(length) }, errors: [] }))
  expect(chunkEnd(rows(10, 1200), 400)).toBe(900)
  expect(chunkEnd(rows(10, 1200), 1000)).toBe(1200)
  expect(chunkEnd(rows(300_000, 10), 2)).toBe(5)
  expect(chunkEnd(rows(2_000_000, 2), 0)).toBe(1)
})

test('the columns of a file of remaining rows are not data', async () => {
  const csv = 'name,price,import_line,import_error\nLamp,1,7,price: must be a number\nRug,2,8,\n'
  const table = await read('items.csv', csv)
  expect(table.columns).toEqual(['name', 'price'])
  expect(rowsOf(items, table).map(({ record }) => record)).toEqual([
    { name: 'Lamp', price: 1 },
    { name: 'Rug', price: 2 },
  ])
})

test('CSV cells that a spreadsheet would run as formulas are escaped, and reading restores them', () => {
  const values = ['=1+1', '+1', '-1', '@A1', "'=1", "it's", '\tx', 'a,"b"\n', '＝1', '＋1', '－1', '＠1', ' =1', '\n1']
  const text = csvOf(
    ['@name', 'plain'],
    values.map((value) => ({ '@name': value, plain: -5 })),
  )
  expect(text.split('\r\n').slice(0, 3)).toEqual(["\uFEFF'@name,plain", "'=1+1,-5", "'+1,-5"])
  expect(readCsv(text.slice(1)).rows.map(({ values }) => values['@name'])).toEqual(values)
})

test('a field defines the value of an empty input', () => {
  const fieldsOf = (verb: 'create' | 'update') =>
    Object.entries(contract.items.procedures[verb].input.shape).map(([name, schema]) => fieldOf(name, name, schema))
  const empty = (verb: 'create' | 'update') =>
    Object.fromEntries(fieldsOf(verb).map((field) => [field.name, parseInput(field, ' ')]))
  expect(empty('create')).toMatchObject({ name: '', price: undefined, category: null })
  expect(empty('update')).toMatchObject({ name: undefined, price: undefined, category: null })
})

test.each(['constructor', '__proto__', 'toString'])('a column %s is an ordinary column', async (column) => {
  const table = await read('items.csv', `name,price,${column}\nLamp,1,light\nRug,2,\n`)
  const settings = guessSettings(items, table)
  expect(settings.mapping[column]).toBeUndefined()
  expect(checkRows(items, table, settings).map(({ record }) => record)).toEqual([
    { name: 'Lamp', price: 1 },
    { name: 'Rug', price: 2 },
  ])
  const mapping = recordOf([...Object.entries(settings.mapping), [column, 'category']])
  const rows = checkRows(items, table, { ...settings, mapping })
  expect(rows.map(({ record }) => record)).toEqual([
    { name: 'Lamp', price: 1, category: 'light' },
    { name: 'Rug', price: 2 },
  ])
  const remaining = csvOf(
    table.columns,
    rows.map(({ raw }) => ({ ...raw })),
  )
  expect(remaining).toBe(`\uFEFFname,price,${column}\r\nLamp,1,light\r\nRug,2,\r\n`)
  const json = await read('items.json', '[{"name":"Lamp","price":1}]')
  expect(json.rows[0]?.values[column]).toBeUndefined()
})

test('a misspelled column is mapped by a guess', async () => {
  expect(guessSettings(items, await read('items.csv', 'name,Prise\nLamp,1\n')).mapping).toEqual({
    name: 'name',
    Prise: 'price',
  })
})
