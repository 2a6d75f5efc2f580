import { contract } from '@resource/contract'
import { collections, fill } from '@resource/contract/samples'
import { factsOf } from '@resource/contract/schema'
import { declarations } from '@resource/database'
import { expect, test } from 'vitest'
import type { z } from 'zod'
import { startTestServer } from './harness.ts'
import { aTimestamp } from './records.ts'
import type { Collection } from './samples.ts'

type Row = Record<string, unknown>
type Procedures = Record<string, { input: z.ZodObject; output: z.ZodObject; meta: { openapi: { path: string } } }>

/** The values with which a plain collection is tested. */
interface Cases {
  /** Two records with all fields, without references to others than the first record of a collection. */
  first: Row
  second: Row
  /** For each field a value that it refuses. */
  invalid: Row
  /** By the query of a list: the ids of the records that it finds. */
  lists: Record<string, number[]>
}

interface Table {
  references: Record<string, { table: string; onDelete: 'Restrict' | 'Cascade' }>
}

const tables: Record<string, Table & { unique: readonly string[] }> = declarations

/** Tests a collection with the standard paths. */
export function testCollection(noun: Collection, { first, second, invalid, lists }: Cases): void {
  const { one, readOnly } = contract[noun].collection
  const { list, get, create, update, delete: remove } = contract[noun].procedures as Procedures as Required<Procedures>
  const path = list?.meta.openapi.path ?? ''
  const fields = Object.keys(first)
  const times = { created_at: aTimestamp, updated_at: aTimestamp }
  const stored = { id: 1, ...first, ...(get && 'created_at' in get.output.shape && times) }
  const [a, label] = [words(one).replace(/^/, /^[aeio]/.test(one) ? 'an ' : 'a '), words(noun)]
  const initial = Object.fromEntries(
    fields.flatMap((name) => {
      const { isOptional, initial } = factsOf(create?.input.shape[name] as z.ZodType)
      return isOptional ? [[name, initial]] : []
    }),
  )

  const start = async (...records: Row[]) => {
    const server = await startTestServer()
    const targets = referredBy(noun)
    const counts = Object.fromEntries(collections.map((name) => [name, Number(targets.has(name))]))
    for await (const { refusal } of fill(server.client, { counts })) expect(refusal).toBeUndefined()
    for (const json of records) expect((await server.request('POST', path, { json })).status).toBe(201)
    return server
  }

  test(`${a} is created with an id and read back`, async () => {
    await using server = await start()
    const created = await server.request('POST', path, { json: first })
    expect(created.status).toBe(201)
    // Rules compute the other fields.
    const computed = Object.fromEntries(Object.keys(readOnly).map((name) => [name, created.body[name]]))
    expect(created.body).toEqual({ ...stored, ...computed })
    expect((await server.request('GET', `${path}/1`)).body).toEqual(created.body)
  })

  if (Object.keys(initial).length > 0)
    test(`${a} can be created without optional fields`, async () => {
      await using server = await start()
      const json = Object.fromEntries(Object.entries(first).filter(([name]) => !(name in initial)))
      const { status, body } = await server.request('POST', path, { json })
      expect(status).toBe(201)
      expect(body).toMatchObject(initial)
    })

  test.each(Object.entries(invalid))(
    `${a} whose %s is %j is rejected with an error that names the field`,
    async (field, value) => {
      await using server = await start()
      const { status, body } = await server.request('POST', path, { json: { ...first, [field]: value } })
      expect(status).toBe(400)
      expect(body).toEqual({ message: expect.stringMatching(`^${field}: must be `) })
    },
  )

  test.each(fields.filter((name) => tables[noun]?.unique.includes(name)))(
    `no two ${label} have the same %s`,
    async (field) => {
      await using server = await start(first)
      const { status, body } = await server.request('POST', path, { json: { ...second, [field]: first[field] } })
      expect(status).toBe(409)
      expect(body).toEqual({ message: `${field}: already in use by another ${one}` })
    },
  )

  test.each(Object.entries(lists))(`${label} are listed by %s`, async (query, ids) => {
    await using server = await start(first, second)
    const { status, body } = await server.request('GET', `${path}?${query}`)
    expect(status).toBe(200)
    expect(body).toMatchObject(ids.map((id) => ({ id })))
  })

  test(`${a} is replaced`, async () => {
    await using server = await start(first)
    const { status, body } = await server.request('PUT', `${path}/1`, { json: second })
    expect(status).toBe(200)
    expect(body).toMatchObject({ id: 1, ...second })
  })

  if (update !== undefined)
    test(`${a} is updated only if its version matches`, async () => {
      await using server = await start(first)
      const [name = ''] = fields
      const json = { [name]: second[name] }
      const tag = (await server.request('GET', `${path}/1`)).headers.get('ETag') ?? ''
      const patch = (tag: string) => server.request('PATCH', `${path}/1`, { json, headers: { 'If-Match': tag } })
      expect((await patch(tag.replace('1', '2'))).status).toBe(412)
      const { status, body } = await patch(tag)
      expect(status).toBe(200)
      expect(body).toMatchObject({ ...first, ...json })
    })

  if (remove !== undefined)
    test(`${a} is deleted`, async () => {
      await using server = await start(first)
      expect((await server.request('DELETE', `${path}/1`)).status).toBe(204)
      const { status, body } = await server.request('GET', `${path}/1`)
      expect(status).toBe(404)
      expect(body).toEqual({ message: `${one.replace(/^./, (letter) => letter.toUpperCase())} not found` })
    })

  for (const { relation, target, isKept } of deletionCases(noun, tables)) {
    const { delete: remove } = contract[target as Collection].procedures as Procedures
    if (remove === undefined) continue
    const title = isKept ? `the ${relation} of ${a} cannot be deleted` : `${a} is deleted with its ${relation}`
    test(title, async () => {
      await using server = await start(first)
      const { status } = await server.request('DELETE', remove.meta.openapi.path.replace(/\{\w+\}/, '1'))
      if (isKept) expect(status).toBe(409)
      expect((await server.request('GET', `${path}/1`)).status).toBe(isKept ? 200 : 404)
    })
  }
}

/** What a delete of the records does to which a record refers, where that has one outcome. */
export function deletionCases(noun: string, tables: Record<string, Table>) {
  const references = Object.entries(tables[noun]?.references ?? {})
  const others = [...referredBy(noun, tables)].flatMap((name) => Object.values(tables[name]?.references ?? {}))
  return [...new Set(references.map(([, { table }]) => table))].flatMap((target) => {
    const own = references.filter(([, { table }]) => table === target)
    const isKept = own.every(([, { onDelete }]) => onDelete === 'Restrict')
    // With both kinds of relation, it depends on the engine which one comes first.
    if (!isKept && own.some(([, { onDelete }]) => onDelete === 'Restrict')) return []
    // Another record that refers to it may prevent the deletion.
    if (!isKept && others.some(({ table }) => table === target)) return []
    return [{ relation: own[0]?.[0].replace(/_id$/, '') ?? '', target, isKept }]
  })
}

/** The collections to whose records a record refers, directly or through another one. */
function referredBy(noun: string, all: Record<string, Table> = tables, found = new Set<string>()): Set<string> {
  for (const { table } of Object.values(all[noun]?.references ?? {})) {
    if (!found.has(table)) referredBy(table, all, found.add(table))
  }
  return found
}

/** `order line` for `orderLine`. */
function words(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
}
