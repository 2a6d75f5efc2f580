import { expect, test } from 'vitest'
import { table, widthOf } from '../src/table.ts'
import { startService } from './processes.ts'

const people = [
  { id: 1, name: '👩‍🚀 Ada', note: 'flag 🇫🇷' },
  { id: 20, name: '山田太郎', note: 'e\u0301te\u0301' },
  { id: 3, name: 'Bob\u001b[31m\tRed', note: null },
]

test('a table counts emoji, wide and combined characters as the terminal shows them', () => {
  expect(table(['id', 'name', 'note'], people)).toBe(
    'id  name      note\n 1  👩‍🚀 Ada    flag 🇫🇷\n20  山田太郎  e\u0301te\u0301\n 3  Bob Red   -\n',
  )
})

test('a table shows invisible characters and characters that change the direction of text as escapes', () => {
  const notes = [
    'a\u202egpj.exe',
    '\u2066x\u2069',
    'p\u200ba\u00ady',
    '\u009b31mred',
    'x\u2028y',
    'می\u200cخواهم',
    '🏴󠁧󠁢󠁥󠁮󠁧󠁿',
  ]
  expect(
    table(
      ['note'],
      notes.map((note) => ({ note })),
    ).split('\n'),
  ).toEqual([
    'note',
    'a\\u{202e}gpj.exe',
    '\\u{2066}x\\u{2069}',
    'p\\u{200b}a\\u{ad}y',
    'red',
    'x\\u{2028}y',
    'می\u200cخواهم',
    '🏴󠁧󠁢󠁥󠁮󠁧󠁿',
    '',
  ])
})

test('a table that is too wide for the terminal shortens its widest text, never a number or half a character', () => {
  const rows = [
    { id: 123_456_789, name: 'a'.repeat(30), mark: '🚀🚀🚀🚀🚀🚀🚀🚀' },
    { id: 2, name: 'short', mark: 'x' },
  ]
  expect(table(['id', 'name', 'mark'], rows, 30)).toBe(
    '       id  name      mark\n123456789  aaaaaaa…  🚀🚀🚀🚀…\n        2  short     x\n',
  )
})

test('times in a table that is too wide show their whole date', () => {
  const time = '2026-11-26T14:30:00.123Z'
  const rows = [{ id: 1, name: 'nightly', role: 'writer', expires_at: time, revoked_at: null, last_used_at: time }]
  const columns = Object.keys(rows[0] ?? {})
  expect(table(columns, rows, 80)).toBe(
    'id  name     role    expires_at  revoked_at  last_used_at\n 1  nightly  writer  2026-11-26  -           2026-11-26\n',
  )
  expect(table(columns, rows, 200)).toContain(`${time}  -           ${time}`)
})

test('if not even shortened columns fit, the last ones are omitted', () => {
  const rows = [{ id: 1, first: 'a'.repeat(9), second: 'b'.repeat(9), third: 'c'.repeat(9) }]
  expect(table(['id', 'first', 'second', 'third'], rows, 18)).toBe('id  first  …\n 1  aaaa…  …\n')
})

test('a terminal that states no width gets complete text', () => {
  expect(widthOf({ isTTY: true, columns: 0 } as NodeJS.WriteStream)).toBeUndefined()
})

test('on a terminal no line of a list is wider than the terminal, and a pipe gets the complete text', async () => {
  await using service = await startService()
  const name = 'A very long name '.repeat(8).trim()
  await service.client.items.createMany.mutate({ items: [{ name, price: 1, category: 'lighting' }] })
  const { code, screen } = await service.typeOnTerminal(['items', 'list'], [], { columns: 50 })
  const lines = screen.trimEnd().split('\n')
  expect([code, lines.length]).toEqual([0, 2])
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(50)
  expect(lines[1]).toContain('A very long n')
  expect((await service.run(['items', 'list'])).stdout).toContain(name)
})
