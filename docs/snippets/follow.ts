// An exact copy of the items in a file. Started again, it continues where it was.
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createClient, GoneError, type ListedRecord } from '@resource/client'

const file = process.argv[2] ?? 'items.json'
const client = createClient({ baseUrl: process.env.BASE_URL ?? 'http://127.0.0.1:3000', retryForMs: 60_000 })
let cursor: string | undefined
let items = new Map<number, ListedRecord<'items'>>()

function save(position?: string) {
  cursor = position
  writeFileSync(`${file}.new`, JSON.stringify({ cursor, items: [...items] }))
  renameSync(`${file}.new`, file)
}

if (existsSync(file)) {
  const saved = JSON.parse(readFileSync(file, 'utf8'))
  ;[cursor, items] = [saved.cursor, new Map(saved.items)]
}
for (;;) {
  if (cursor === undefined) {
    items.clear()
    let first: string | undefined
    for await (const page of client.items.pages({ limit: 1000 })) {
      first ??= page.changes_cursor
      for (const item of page.items) items.set(item.id, item)
    }
    save(first)
  }
  try {
    for await (const change of client.changes({ resources: ['items'], after: cursor })) {
      if (change.record === null) items.delete(change.record_id)
      else items.set(change.record_id, change.record)
      save(change.cursor)
    }
  } catch (error) {
    if (!(error instanceof GoneError)) throw error
    cursor = undefined // Changes are missing: read the list again.
  }
}
