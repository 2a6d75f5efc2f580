import { and, article, upper } from '../../packages/contract/src/words.ts'
import type { Field } from './fields.ts'
import type { Names } from './names.ts'

/** A collection to whose records a new record refers, directly or through another one. */
export interface Target {
  collection: string
  /** The path of its first record; undefined if its records cannot be deleted. */
  path: string | undefined
  /** The collections of the records that it refers to. */
  refersTo: string[]
}

/** The source code of the resource's tests, unformatted. */
export function testSource({ one, path, label, singularLabel }: Names, fields: Field[], targets: Target[]): string {
  const [first, second] = [0, 1].map((at) => Object.fromEntries(fields.map(({ name, values }) => [name, values[at]])))
  const [changed] = fields as [Field]
  const change = { [changed.name]: changed.values[1] }
  const a = `${article(one)} ${singularLabel}`
  const start = targets.length > 0 ? 'startWithReferences()' : 'startTestServer()'
  const json = JSON.stringify
  const create = (record: string) => `await server.request('POST', '/${path}', { json: ${record} })`
  const lists = fields.flatMap(({ name, filters, values: [less, more] }) => {
    if (filters === 'none') return []
    return [filters === 'value' ? [`${name}=${less}`, less === more ? [1, 2] : [1]] : [`${name}_gte=${more}`, [2]]]
  })
  const optional = fields.filter((field) => field.default !== undefined)
  const required = fields.filter((field) => field.default === undefined)
  const uniques = fields.filter(({ unique }) => unique)

  return `
import { expect, test } from 'vitest'
${when(targets.length > 0, "import { collections, fill } from '../scripts/seed/seed.ts'")}
import { startTestServer } from './harness.ts'
import { aTimestamp } from './records.ts'

const first = ${json(first)}
const second = ${json(second)}
${when(
  targets.length > 0,
  `
/** Starts the service and creates the records that ${a} refers to. */
async function startWithReferences() {
  const server = await startTestServer()
  const none = Object.fromEntries(collections.map((noun) => [noun, 0]))
  const counts = { ...none, ${targets.map(({ collection }) => `${collection}: 1`).join(', ')} }
  for await (const { refusal } of fill(server.client, { seed: 1, counts })) expect(refusal).toBeUndefined()
  return server
}
`,
)}
test('${a} is created with an id and read back', async () => {
  await using server = await ${start}
  const created = ${create('first')}
  expect(created.status).toBe(201)
  expect(created.body).toEqual({ id: 1, ...first, created_at: aTimestamp, updated_at: aTimestamp })
  expect((await server.request('GET', '/${path}/1')).body).toEqual(created.body)
})
${when(
  optional.length > 0,
  `
test('${a} can be created without ${and(optional.map(({ name }) => name))}', async () => {
  await using server = await ${start}
  const { status, body } = ${create(json(Object.fromEntries(required.map(({ name, values }) => [name, values[0]]))))}
  expect(status).toBe(201)
  expect(body).toMatchObject(${json(Object.fromEntries(optional.map((field) => [field.name, field.default])))})
})
`,
)}
test.each([${fields.map(({ name, invalid }) => json([name, invalid])).join(', ')}])(
  '${a} whose %s is %j is rejected with an error that names the field', async (field, value) => {
  await using server = await ${start}
  const { status, body } = ${create('{ ...first, [field]: value }')}
  expect(status).toBe(400)
  expect(body).toEqual({ message: expect.stringMatching(\`^\${field}: must be \`) })
})
${uniques
  .map(
    ({ name }) => `
test('no two ${label} have the same ${name}', async () => {
  await using server = await ${start}
  ${create('first')}
  const { status, body } = ${create(`{ ...second, ${name}: first.${name} }`)}
  expect(status).toBe(409)
  expect(body).toEqual({ message: '${name}: already in use by another ${one}' })
})
`,
  )
  .join('')}${when(
  lists.length > 0,
  `
test.each([${lists.map((list) => json(list)).join(', ')}])('${label} are listed by %s', async (filter, ids) => {
  await using server = await ${start}
  ${create('first')}
  ${create('second')}
  const { status, body } = await server.request('GET', \`/${path}?\${filter}\`)
  expect(status).toBe(200)
  expect(body).toMatchObject(ids.map((id) => ({ id })))
})
`,
)}
test('${a} is replaced', async () => {
  await using server = await ${start}
  ${create('first')}
  const { status, body } = await server.request('PUT', '/${path}/1', { json: second })
  expect(status).toBe(200)
  expect(body).toMatchObject({ id: 1, ...second })
})

test('${a} is updated only if its version matches', async () => {
  await using server = await ${start}
  ${create('first')}
  const tag = (await server.request('GET', '/${path}/1')).headers.get('ETag') ?? ''
  const update = (tag: string) =>
    server.request('PATCH', '/${path}/1', { json: ${json(change)}, headers: { 'If-Match': tag } })
  expect((await update(tag.replace('1', '2'))).status).toBe(412)
  const { status, body } = await update(tag)
  expect(status).toBe(200)
  expect(body).toMatchObject({ ...first, ${json(change).slice(1, -1)} })
})

test('${a} is deleted', async () => {
  await using server = await ${start}
  ${create('first')}
  expect((await server.request('DELETE', '/${path}/1')).status).toBe(204)
  const { status, body } = await server.request('GET', '/${path}/1')
  expect(status).toBe(404)
  expect(body).toEqual({ message: '${upper(one)} not found' })
})
${targets
  .map(({ collection, path: target }) => {
    const relations = fields.flatMap(({ relation }) => (relation?.collection === collection ? [relation] : []))
    const [relation, ...others] = relations
    // With both kinds of relation, it depends on the engine which one comes first.
    const isMixed = others.some(({ onDelete }) => onDelete !== relation?.onDelete)
    if (relation === undefined || isMixed || target === undefined) return ''
    const isKept = relation.onDelete === 'Restrict'
    // Another record that refers to it may prevent the deletion.
    if (!isKept && targets.some(({ refersTo }) => refersTo.includes(collection))) return ''
    return `
test('${isKept ? `the ${relation.name} of ${a} cannot be deleted` : `${a} is deleted with its ${relation.name}`}', async () => {
  await using server = await ${start}
  ${create('first')}
  ${isKept ? `expect((await server.request('DELETE', '${target}')).status).toBe(409)` : `await server.request('DELETE', '${target}')`}
  expect((await server.request('GET', '/${path}/1')).status).toBe(${isKept ? 200 : 404})
})
`
  })
  .join('')}`
}

const when = (isTrue: boolean, text: string) => (isTrue ? text : '')
