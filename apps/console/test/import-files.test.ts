import { contract } from '@resource/contract'
import { chunks, csvText, type Row, recordOf, remainingText } from '@resource/import'
import { expect, test } from 'vitest'
import { describe } from '../src/resources/describe.ts'
import { fieldOf, parseInput } from '../src/resources/field.ts'
import { checkRows, guessSettings, modesOf } from '../src/transfer/settings.ts'
import { readTable, type Table } from '../src/transfer/table.ts'

const users = describe('users', contract.users.collection)
const items = describe('items', contract.items.collection)

function read(name: string, ...parts: BlobPart[]) {
  return readTable(name.startsWith('users') ? users : items, new File(parts, name))
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
  const guess = async (resource: typeof users, header: string) => ({
    ...guessSettings(resource, await read('file.csv', `${header}\n${header}\n`)).columns,
  })
  expect(await guess(users, 'Full name,E-Mail address,AGE (years),Status,created_at')).toEqual({
    'Full name': 'name',
    'E-Mail address': 'email',
    'AGE (years)': 'age',
    Status: 'status',
    created_at: null,
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
    [{ id: 'x', name: 'D' }, ['id: must be a whole number']],
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
  expect(settings.decimalComma).toBe(true)
  const rows = checkRows(items, table, settings)
  expect(rows.map(({ record }) => record)).toEqual([
    { name: 'Lamp 1,5', price: 1234.56 },
    { name: 'Rug', price: 7 },
    { name: 'Chair' },
    { name: 'Shelf', price: '1,2,3' },
  ])
  expect(rows.map(({ errors }) => errors.length)).toEqual([0, 0, 1, 1])
  const points = checkRows(items, table, { ...settings, decimalComma: false })
  expect(points.map(({ errors }) => errors.length)).toEqual([1, 0, 1, 1])
})

test('with a comma that may stand between thousands, no decimal comma is guessed, and no number is read in two ways', async () => {
  const english = await read('items.csv', 'name,price\nA,"1,000"\nB,"2,500.5"\nC,3\n')
  const prices = (rows: ReturnType<typeof checkRows>) => rows.map(({ record }) => record.price)
  expect(prices(rowsOf(items, english))).toEqual(['1,000', '2,500.5', 3])
  const ambiguous = await read('items.csv', 'name,price\nA,"1,299"\nB,1.5\n')
  expect(prices(rowsOf(items, ambiguous))).toEqual(['1,299', 1.5])
  const chosen = checkRows(items, ambiguous, { ...guessSettings(items, ambiguous), decimalComma: true })
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
  expect(table.rows[0]).toMatchObject({ source: { name: 'A', email: 'a@example.com', age: '1' }, surplus: ['9'] })
})

test('a file with an unclosed quote or a repeated column is rejected', async () => {
  await expect(read('users.csv', 'name,email,age\nA,a@example.com,1\n"B,b@example.com,2\n')).rejects.toThrow(
    'Line 3: the quote of a cell is not closed',
  )
  await expect(read('users.csv', 'name,name\nA,B\n')).rejects.toThrow('Columns that appear twice: name')
})

test('a file that is not UTF-8 is rejected', async () => {
  const latin1 = Uint8Array.from('name,email,age\nJosé,j@example.com,1\n', (letter) => letter.charCodeAt(0))
  await expect(read('users.csv', latin1)).rejects.toThrow('The file is not UTF-8: save it as "CSV UTF-8"')
})

test('a file larger than 50 MB is rejected before it is read', async () => {
  const huge = { name: 'users.csv', size: 50_000_001 } as File
  await expect(readTable(users, huge)).rejects.toThrow('The file is larger than 50 MB')
})

test('invalid JSON is an error of its row, or of the file if the end of a row is unknown', async () => {
  const errorsIn = async (name: string, text: string) =>
    rowsOf(users, await read(name, text)).flatMap(({ line, element, errors }) =>
      errors.map((error) => [element, line, error]),
    )
  expect(await errorsIn('users.json', '[\n  {"name": "A", "email": "a@example.com"},\n  {"name" "B"}\n]')).toEqual([
    [2, 3, 'must be valid JSON'],
  ])
  expect(await errorsIn('users.ndjson', '{"name":"A","email":"a@example.com"}\n{"name"\n')).toEqual([
    [undefined, 2, 'must be valid JSON'],
  ])
  expect(await errorsIn('users.json', '[{"name":"A","email":"a@example.com"}, {}, 7]')).toEqual([
    [2, 1, 'name: is required'],
    [2, 1, 'email: is required'],
    [3, 1, 'must be a JSON object'],
  ])
  await expect(read('users.json', '[{"name":"A"}')).rejects.toThrow('The JSON array must end with ]')
  await expect(read('users.json', '[]')).rejects.toThrow('The file contains no rows')
})

test('a file of one JSON object, or of several, has a row for each', async () => {
  const { rows } = await read('items.json', '{\n"name": "a",\n"tags": {"x": [1]}}\n {"name": "b"}')
  expect(rows.map(({ line, source }) => [line, { ...source }])).toEqual([
    [1, { name: 'a', tags: { x: [1] } }],
    [4, { name: 'b' }],
  ])
  await expect(read('items.json', '{"name": "a"}\n{"name":')).rejects.toThrow('The last object must end with }')
  await expect(read('items.json', '{"name": "a"}, {}')).rejects.toThrow('Line 1: the file must contain one JSON array')
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

test('a request has at most the chosen number of rows and little more than 1,000,000 characters', async () => {
  const sizes = async (length: number, count: number) => {
    const source = { name: 'x'.repeat(length) }
    const rows = Array.from({ length: count }, (): Row => ({ line: 1, source, record: source, errors: [] }))
    const found: [number, number][] = []
    for await (const { start, rows: chunk } of chunks(rows, 500)) found.push([start, chunk.length])
    return found
  }
  expect(await sizes(10, 1200)).toEqual([
    [0, 500],
    [500, 500],
    [1000, 200],
  ])
  expect((await sizes(300_000, 10)).map(([, count]) => count)).toEqual([4, 4, 2])
  expect((await sizes(2_000_000, 2)).map(([, count]) => count)).toEqual([1, 1])
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

test('CSV cells that a spreadsheet would run as formulas are escaped, and reading restores them', async () => {
  const values = ['=1+1', '+1', '-1', '@A1', "'=1", "it's", '\tx', 'a,"b"\n', '＝1', '＋1', '－1', '＠1', ' =1', '\n1']
  const text = csvText([['@name', 'plain'], ...values.map((value) => [value, -5])], ',', '\r\n')
  expect(text.split('\r\n').slice(0, 3)).toEqual(["'@name,plain", "'=1+1,-5", "'+1,-5"])
  const { rows } = await read('items.csv', text)
  expect(rows.map(({ source }) => source['@name'])).toEqual(values)
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
  expect(settings.columns[column]).toBeUndefined()
  expect(checkRows(items, table, settings).map(({ record }) => record)).toEqual([
    { name: 'Lamp', price: 1 },
    { name: 'Rug', price: 2 },
  ])
  const columns = recordOf([...Object.entries(settings.columns), [column, 'category']])
  const rows = checkRows(items, table, { ...settings, columns })
  expect(rows.map(({ record }) => record)).toEqual([
    { name: 'Lamp', price: 1, category: 'light' },
    { name: 'Rug', price: 2 },
  ])
  const remaining = remainingText(
    rows.map((row) => ({ row, reason: '' })),
    'csv',
    {},
  )
  expect(remaining).toBe(`name,price,${column},import_line,import_error\nLamp,1,light,2,\nRug,2,,3,\n`)
  const json = await read('items.json', '[{"name":"Lamp","price":1}]')
  expect(json.rows[0]?.source[column]).toBeUndefined()
})

test('a misspelled column is mapped by a guess', async () => {
  expect(guessSettings(items, await read('items.csv', 'name,Prise\nLamp,1\n')).columns).toEqual({
    name: 'name',
    Prise: 'price',
  })
})
