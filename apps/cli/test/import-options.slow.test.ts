import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { startService } from './processes.ts'

const ITEMS = ['--type', 'items']

test('columns are assigned by similar names; the guess is shown and must be confirmed', async () => {
  await using service = await startService()
  writeFileSync(service.path('a.csv'), 'Item Name,prise,Category\nLamp,24.5,light\n')
  const guess = 'Columns: Item Name → name, prise → price, Category → category\n'
  const refused = await service.run(['import', 'a.csv', ...ITEMS])
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(`${guess}These are guesses. Add --yes`)])
  const no = await service.type(
    ['import', 'a.csv', ...ITEMS],
    [{ question: 'Import the file like this? [y/N]', text: 'n' }],
  )
  expect([no.code, no.screen]).toEqual([130, expect.stringContaining(guess)])
  expect((await service.client.items.list.query({})).items).toEqual([])
  const yes = await service.type(
    ['import', 'a.csv', ...ITEMS],
    [{ question: 'Import the file like this? [y/N]', text: 'y' }],
  )
  expect([yes.code, yes.screen]).toEqual([0, expect.stringContaining('1 items imported, 0 failed')])
  const accepted = await service.run(['import', 'a.csv', ...ITEMS, '--yes', '--again'])
  expect([accepted.code, accepted.stderr]).toEqual([0, expect.stringContaining(guess)])
  expect((await service.client.items.list.query({})).items).toMatchObject([
    { name: 'Lamp', price: 24.5, category: 'light' },
    { name: 'Lamp', price: 24.5, category: 'light' },
  ])
})

test.each(['constructor', '__proto__', 'toString'])('a column %s is an ordinary column', async (column) => {
  await using service = await startService()
  writeFileSync(service.path('a.csv'), `name,price,${column}\nLamp,1,light\nRug,x,\n`)
  const refused = await service.run(['import', 'a.csv', ...ITEMS])
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(`Unknown columns: ${column}. Allowed:`)])
  const mapped = await service.run(['import', 'a.csv', ...ITEMS, '--map', `${column}=category`])
  expect([mapped.code, mapped.stdout]).toEqual([6, '1 items imported, 1 failed\n'])
  expect((await service.client.items.list.query({})).items).toMatchObject([{ name: 'Lamp', category: 'light' }])
  expect(readFileSync(service.path('a.csv.remaining.csv'), 'utf8')).toContain(
    `name,price,${column},import_line,import_error`,
  )
})

test('an invalid file is reported as what it is', async () => {
  await using service = await startService()
  for (const [text, message] of [
    ['', 'The file is empty'],
    ['name,price\n"Lamp,1\n', 'Line 2: the quote of a cell is not closed'],
    ['name,name,price\nLamp,Lamp,1\n', 'Columns that appear twice: name'],
    ['\u001b[31mx,price\n', 'Unknown columns: x. Allowed: name, price, category.'],
    [`name,price\n${'"a\nb",1\n'.repeat(300)}"c,1\n`, 'Line 602: the quote of a cell is not closed'],
  ] as const) {
    writeFileSync(service.path('a.csv'), text)
    const { code, stderr } = await service.run(['import', 'a.csv', ...ITEMS])
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
  }
  expect((await service.client.items.list.query({})).items).toEqual([])
})

test('--map assigns columns and leaves columns out', async () => {
  await using service = await startService()
  writeFileSync(service.path('a.csv'), 'Bezeichnung,price,Notiz\nLamp,1,x\n')
  const unknown = await service.run(['import', 'a.csv', ...ITEMS])
  expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('Unknown columns: Bezeichnung, Notiz.')])
  const command = ['import', 'a.csv', ...ITEMS, '--map', 'Bezeichnung=name', '--map', 'Notiz=']
  expect((await service.run(command)).stdout).toBe('1 items imported, 0 failed\n')
  expect((await service.client.items.list.query({})).items).toMatchObject([{ name: 'Lamp', price: 1 }])
})

test('several columns for one field are refused, also with --map', async () => {
  await using service = await startService()
  writeFileSync(service.path('a.csv'), 'name,Net,Gross,price\nLamp,5,6,9\n')
  const run = (...maps: string[]) =>
    service.run(['import', 'a.csv', ...ITEMS, ...maps.flatMap((map) => ['--map', map])])
  const both = await run('Net=price', 'Gross=')
  expect([both.code, both.stderr]).toEqual([
    2,
    'Several columns for price: Net, price. Leave out all but one with --map COLUMN=\n',
  ])
  const twice = await run('Net=price', 'Gross=price', 'price=')
  expect([twice.code, twice.stderr]).toEqual([2, expect.stringContaining('Several columns for price: Net, Gross.')])
  expect((await run('Net=price', 'Gross=', 'price=')).code).toBe(0)
  expect((await service.client.items.list.query({})).items).toMatchObject([{ name: 'Lamp', price: 5 }])
})

test('an unnamed column is left out as the error message says', async () => {
  await using service = await startService()
  writeFileSync(service.path('a.csv'), 'name,price,,\nLamp,1,,\n')
  const { code, stderr } = await service.run(['import', 'a.csv', ...ITEMS])
  expect([code, stderr]).toEqual([2, expect.stringMatching(/^Unknown columns: \(unnamed\)\. .* --map '='\n$/)])
  expect((await service.run(['import', 'a.csv', ...ITEMS, '--map', '='])).stdout).toBe('1 items imported, 0 failed\n')
})

test('NDJSON may begin with a byte order mark', async () => {
  await using service = await startService()
  writeFileSync(service.path('a.ndjson'), '\uFEFF{"name":"Lamp","price":1}\n{"name":"Rug","price":2}\n')
  expect((await service.run(['import', 'a.ndjson', ...ITEMS])).stdout).toBe('2 items imported, 0 failed\n')
})

test('semicolons and decimal commas are recognized, shown, and confirmed by --yes or by their options', async () => {
  await using service = await startService()
  writeFileSync(service.path('a.csv'), '\uFEFFname;price\n"Lamp; large";1.024,50\nRug;80\n')
  const refused = await service.run(['import', 'a.csv', ...ITEMS])
  expect([refused.code, refused.stderr]).toEqual([
    2,
    expect.stringContaining('Separator: ;\nDecimal comma: 1.024,50 is 1024.50\n'),
  ])
  const options = ['--delimiter', ';', '--decimal-comma']
  expect((await service.run(['import', 'a.csv', ...ITEMS, ...options])).stdout).toBe('2 items imported, 0 failed\n')
  writeFileSync(service.path('b.csv'), 'name\tprice\nLamp\t24,5\n')
  expect((await service.run(['import', 'b.csv', ...ITEMS, '--yes'])).stdout).toBe('1 items imported, 0 failed\n')
  expect((await service.client.items.list.query({})).items.map(({ name, price }) => [name, price])).toEqual([
    ['Lamp; large', 1024.5],
    ['Rug', 80],
    ['Lamp', 24.5],
  ])
})

test('a separator that the file names needs no confirmation', async () => {
  await using service = await startService()
  writeFileSync(service.path('a.csv'), 'sep=;\r\nname;price\r\nLamp;x\r\nRug;3\r\n')
  const { code, stdout, stderr } = await service.run(['import', 'a.csv', ...ITEMS])
  expect([code, stdout, stderr]).toEqual([
    6,
    '1 items imported, 1 failed\n',
    expect.stringContaining('line 3: price: must be a number'),
  ])
})

test('numbers that can be read in two ways are refused, and a decimal comma is read in every row or in none', async () => {
  await using service = await startService()
  const run = async (csv: string, ...options: string[]) => {
    writeFileSync(service.path('a.csv'), csv)
    const { code, stderr } = await service.run(['import', 'a.csv', ...ITEMS, ...options])
    return [code, stderr]
  }
  const meanings = '1,299 is 1.299 with a decimal comma, and 1299 with a comma between thousands.'
  expect(await run('name,price\nLamp,"1,299"\nRug,7\n', '--yes')).toEqual([2, expect.stringContaining(meanings)])
  const english = 'name,price\nLamp,"1,299"\nRug,"12,500.75"\nChair,7\n'
  expect(await run(english, '--yes')).toEqual([6, expect.stringContaining('line 3: price: must be a number')])
  const mixed = 'name;price\nBed;1.234\nDesk;2,5\nShelf;1.5\n'
  const errors = expect.stringContaining('line 4: price: must be a number')
  expect(await run(mixed, '--delimiter', ';', '--decimal-comma')).toEqual([6, errors])
  expect((await service.client.items.list.query({})).items.map(({ name, price }) => [name, price])).toEqual([
    ['Chair', 7],
    ['Bed', 1234],
    ['Desk', 2.5],
  ])
})

test('a file that was imported before is recognized by its content', async () => {
  await using service = await startService()
  writeFileSync(service.path('a.csv'), 'name,price\nLamp,1\n')
  await service.run(['import', 'a.csv', ...ITEMS])
  writeFileSync(service.path('copy.csv'), 'name,price\nLamp,1\n')
  const refused = await service.run(['import', 'copy.csv', ...ITEMS, '--json'])
  expect([refused.code, JSON.parse(refused.stderr).error]).toEqual([
    4,
    expect.objectContaining({ imported: expect.objectContaining({ file: service.path('a.csv'), imported: 1 }) }),
  ])
  const no = await service.type(['import', 'copy.csv', ...ITEMS], [{ question: 'Import it again? [y/N]', text: '' }])
  expect([no.code, no.screen]).toEqual([130, expect.stringContaining('was already imported on 20')])
  expect((await service.run(['import', 'copy.csv', ...ITEMS, '--again'])).code).toBe(0)
  expect((await service.client.items.list.query({})).items.length).toBe(2)
  // Another service has not got the records.
  await using other = await startService()
  expect((await service.run(['import', 'a.csv', ...ITEMS, '--url', other.url])).code).toBe(0)
})

test('the remaining rows contain no spreadsheet formula, and importing them restores the text', async () => {
  await using service = await startService()
  writeFileSync(service.path('a.csv'), "name,price,category\n=1+1,dear,'=2+2\n@x,-1,+3\n")
  expect((await service.run(['import', 'a.csv', ...ITEMS])).code).toBe(6)
  const remaining = readFileSync(service.path('a.csv.remaining.csv'), 'utf8')
  expect(remaining).toBe(
    "name,price,category,import_line,import_error\n'=1+1,dear,'=2+2,2,price: must be a number from 0 to 1e12\n'@x,'-1,'+3,3,price: must be a number from 0 to 1e12\n",
  )
  writeFileSync(service.path('b.csv'), remaining.replace('dear', '1').replace("'-1", '2'))
  expect((await service.run(['import', 'b.csv', ...ITEMS])).stdout).toBe('2 items imported, 0 failed\n')
  expect((await service.client.items.list.query({})).items).toMatchObject([
    { name: '=1+1', price: 1, category: '=2+2' },
    { name: '@x', price: 2, category: '+3' },
  ])
})

test('a file with ids is imported only with a choice between updates and copies', async () => {
  await using service = await startService()
  await service.client.items.createMany.mutate({
    items: [
      { name: 'Lamp', price: 1 },
      { name: 'Rug', price: 2 },
    ],
  })
  const count = async () => (await service.client.items.list.query({})).items.length
  await service.run(['export', ...ITEMS, '-o', 'items.csv'])
  await service.run(['export', ...ITEMS, '-o', 'items.ndjson'])
  writeFileSync(service.path('items.json'), '[{"name":"Chair","price":3},\n{"id":2,"name":"Rug","price":2}]')
  for (const file of ['items.csv', 'items.ndjson', 'items.json']) {
    const { code, stderr } = await service.run(['import', file, ...ITEMS, '--yes'])
    expect([code, stderr]).toEqual([
      2,
      `${file} has ids. Use --update to update the records with these ids, or --create to create copies with new ids\n`,
    ])
  }
  const csv = readFileSync(service.path('items.csv'), 'utf8')
  const piped = await service.run(['import', '-', ...ITEMS, '--format', 'csv'], csv.replaceAll(',', ';'))
  expect([piped.code, piped.stderr]).toEqual([2, expect.stringContaining('stdin has ids. Use --update')])
  expect([await count(), existsSync(service.path('items.csv.progress'))]).toEqual([2, false])

  const ask = (text: string) =>
    service.type(
      ['import', 'items.csv', ...ITEMS],
      [{ question: 'Update the records with these ids, or create copies (update/create)? [neither]', text }],
    )
  expect(await ask('')).toMatchObject({ code: 130, screen: expect.stringContaining('Nothing was imported.') })
  expect(await ask('update')).toMatchObject({ code: 0, screen: expect.stringContaining('0 updated, 2 unchanged') })
  expect(await count()).toBe(2)
  expect(await ask('create')).toMatchObject({ code: 0, screen: expect.stringContaining('2 items imported') })
  const copies = await service.run(['import', 'items.json', ...ITEMS, '--create'])
  expect([copies.code, copies.stdout]).toEqual([0, '2 items imported, 0 failed\n'])
  const without = await service.run(['import', '-', ...ITEMS, '--format', 'csv', '--map', 'id='], csv)
  expect([without.code, without.stdout]).toEqual([0, '2 items imported, 0 failed\n'])
  expect(await count()).toBe(8)
})

test('an import of a file with ids resumes in the chosen way', async () => {
  await using service = await startService()
  const rows = Array.from({ length: 20_000 }, (_, n) => `${n + 1},Item ${n},1\n`).join('')
  writeFileSync(service.path('a.csv'), `id,name,price\n${rows}`)
  const command = ['import', 'a.csv', ...ITEMS]
  const stopped = await service.start([...command, '--create']).signalAt('imported 10000 ', 'SIGKILL')
  expect(stopped.code).toBe(null)
  const resumed = await service.run(command)
  expect([resumed.code, resumed.stdout]).toEqual([0, '20000 items imported, 0 failed\n'])
})

test('an export that is imported with --update changes nothing, and then only the edited fields', async () => {
  await using service = await startService()
  await service.client.items.createMany.mutate({
    items: [
      { name: 'Lamp', price: 1, category: 'light' },
      { name: '=Rug', price: 2 },
      { name: 'Sofa', price: 3 },
    ],
  })
  for (const file of ['items.csv', 'items.ndjson']) {
    await service.run(['export', ...ITEMS, '-o', file])
    const same = await service.run(['import', file, ...ITEMS, '--update'])
    expect([same.code, same.stdout]).toEqual([0, '0 items created, 0 updated, 3 unchanged, 0 failed\n'])
  }
  const versions = async () =>
    (await service.client.items.list.query({})).items.map(({ name, price, category, version }) => [
      name,
      price,
      category,
      version,
    ])
  const unchanged = [
    ['Lamp', 1, 'light', 1],
    ['=Rug', 2, null, 1],
    ['Sofa', 3, null, 1],
  ]
  expect(await versions()).toEqual(unchanged)
  const clearing = await service.run(['import', 'items.csv', ...ITEMS, '--update', '--clear-empty'])
  expect([clearing.code, await versions()]).toEqual([0, unchanged])
  const csv = readFileSync(service.path('items.csv'), 'utf8')
  writeFileSync(service.path('edited.csv'), `${csv.replace(',1,light,', ',5,,')}9,Chair,4,,1\n`)
  const edited = await service.run(['import', 'edited.csv', ...ITEMS, '--update', '--json'])
  expect([edited.code, JSON.parse(edited.stdout)]).toEqual([6, { created: 0, updated: 1, unchanged: 2, failed: 1 }])
  expect(JSON.parse(edited.stderr).error.rows).toEqual([{ line: 5, message: 'Item not found' }])
  expect(await versions()).toEqual([
    ['Lamp', 5, 'light', 2],
    ['=Rug', 2, null, 1],
    ['Sofa', 3, null, 1],
  ])
  const stale = await service.run([
    'import',
    'items.csv',
    ...ITEMS,
    '--update',
    '--map',
    'version=if_version',
    '--json',
  ])
  expect([stale.code, JSON.parse(stale.stdout)]).toEqual([6, { created: 0, updated: 0, unchanged: 2, failed: 1 }])
})

test('an empty cell changes nothing, and with --clear-empty it clears its field', async () => {
  await using service = await startService()
  await service.client.items.create.mutate({ name: 'Lamp', price: 1, category: 'light' })
  writeFileSync(service.path('a.csv'), 'id,name,price,category\n1,,2,\n')
  const command = ['import', 'a.csv', ...ITEMS]
  expect((await service.run([...command, '--update'])).code).toBe(0)
  expect(await service.client.items.get.query({ id: 1 })).toMatchObject({ name: 'Lamp', price: 2, category: 'light' })
  expect((await service.run([...command, '--upsert', 'id'])).code).toBe(0)
  expect(await service.client.items.get.query({ id: 1 })).toMatchObject({ category: 'light', version: 2 })
  expect((await service.run([...command, '--update', '--clear-empty'])).code).toBe(0)
  expect(await service.client.items.get.query({ id: 1 })).toMatchObject({ name: 'Lamp', price: 2, category: null })
})

test('--upsert updates the records that have the key and creates the others', async () => {
  await using service = await startService()
  await service.client.users.create.mutate({ name: 'Ada', email: 'ada@example.com', age: 35 })
  writeFileSync(
    service.path('users.csv'),
    'id,name,email,age\n7,Ada L.,ADA@example.com,36\n8,Bob,bob@example.com,\n9,Eve,eve,1\n',
  )
  const { code, stdout, stderr } = await service.run(['import', 'users.csv', '--type', 'users', '--upsert', 'email'])
  expect([code, stdout]).toEqual([6, '1 users created, 1 updated, 0 unchanged, 1 failed\n'])
  expect(stderr).toContain('line 4: email: must be a valid e-mail address')
  const { users } = await service.client.users.list.query({})
  expect(users.map(({ id, name, age }) => [id, name, age])).toEqual([
    [1, 'Ada L.', 36],
    [2, 'Bob', null],
  ])
  const wrong = await service.run(['import', 'users.csv', '--type', 'users', '--upsert', 'name'])
  expect([wrong.code, wrong.stderr]).toEqual([2, '--upsert: must be one of: id, email\n'])
})

test('the remaining rows of an import in the console can be imported', async () => {
  await using service = await startService()
  writeFileSync(
    service.path('users-remaining.csv'),
    '\uFEFFname,email,age,import_line,import_error\r\n' +
      'Taken,taken@example.com,30,702,email: already in use by another user\r\n' +
      "'=Nobody,nobody@example.com,,1203,email: must be a valid e-mail address of at most 254 characters\r\n",
  )
  const { code, stdout } = await service.run(['import', 'users-remaining.csv', '--type', 'users'])
  expect([code, stdout]).toEqual([0, '2 users imported, 0 failed\n'])
  const { users } = await service.client.users.list.query({})
  expect(users.map(({ name, age }) => [name, age])).toEqual([
    ['Taken', 30],
    ['=Nobody', null],
  ])
})

test('a file that is not UTF-8 is refused before anything is stored', async () => {
  await using service = await startService()
  const rows = Array.from({ length: 30_000 }, (_, n) => `Item ${n},1\n`).join('')
  writeFileSync(service.path('latin1.csv'), Buffer.from(`name,price\n${rows}Café,1\n`, 'latin1'))
  writeFileSync(service.path('utf16.csv'), Buffer.from('\uFEFFname,price\nCafé,1\n', 'utf16le'))
  writeFileSync(service.path('no-bom.csv'), Buffer.from('name,price\nCafé,1\n', 'utf16le'))
  for (const name of ['latin1.csv', 'utf16.csv', 'no-bom.csv']) {
    const { code, stderr } = await service.run(['import', name, ...ITEMS, '--yes'])
    expect([code, stderr]).toEqual([2, `${name} is not UTF-8. In a spreadsheet, save it as "CSV UTF-8"\n`])
  }
  expect((await service.client.items.list.query({})).items).toEqual([])
})
