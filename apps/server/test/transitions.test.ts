import { contract } from '@resource/contract'
import type { Entity } from '@resource/database'
import { expect, test } from 'vitest'
import { writeRules } from '../src/store/write-rules.ts'

const transitions = { status: { open: ['paid', 'void'], paid: ['sent'] } }
const rules = writeRules({ ...contract.items.collection, transitions }, {}, {})
const caller = { name: 'mira', role: 'admin' } as const

function change(before: string | null, after: string | null): string {
  const row = (status: string | null, version: number): Entity & Record<string, unknown> => ({ id: 1, version, status })
  try {
    rules.checkWritten(caller, { before: row(before, 1), after: row(after, 2) }, { status: after })
    return 'done'
  } catch (error) {
    return (error as Error).message
  }
}

test('a choice changes only as its transitions say; a record without a value gets any', () => {
  expect(change('open', 'paid')).toBe('done')
  expect(change('open', 'open')).toBe('done')
  expect(change(null, 'sent')).toBe('done')
  expect(change('open', 'sent')).toBe('status: can change from open only to paid or void')
  expect(change('paid', null)).toBe('status: can change from paid only to sent')
  expect(change('sent', 'open')).toBe('status: cannot change from sent')
})

test('a write that may break a transition can be undone: it is no single statement', () => {
  expect(rules.dependOnRecord(caller, { status: 'paid' })).toBe(true)
  expect(rules.dependOnRecord(caller, { name: 'Lamp' })).toBe(false)
})
