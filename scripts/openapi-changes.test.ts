import { expect, test } from 'vitest'
import { findChanges } from './openapi-changes.ts'

// biome-ignore lint/suspicious/noExplicitAny: any part of the document may be edited
type Edit = (document: any) => void

const json = (schema: object) => ({ content: { 'application/json': { schema } } })

function makeDocument(edit: Edit) {
  const document = {
    openapi: '3.1.0',
    info: { title: 'Users', version: '1.0.0' },
    paths: {
      '/users/': {
        get: {
          operationId: 'users.list',
          parameters: [
            { name: 'role', in: 'query', schema: { enum: ['admin', 'user'] } },
            { name: 'limit', in: 'query', schema: { type: 'integer', maximum: 100 } },
          ],
          responses: { '200': { description: 'OK', ...json({ $ref: '#/components/schemas/User' }) } },
        },
        post: {
          operationId: 'users.create',
          requestBody: { required: true, ...json({ $ref: '#/components/schemas/NewUser' }) },
          responses: { '201': { description: 'Created' }, '409': { description: 'Conflict' } },
        },
        delete: { operationId: 'users.clear', responses: { '204': { description: 'Gone' } } },
      },
    },
    components: {
      schemas: {
        User: {
          type: 'object',
          properties: {
            id: { type: 'integer' },
            email: { type: 'string' },
            role: { type: 'string', enum: ['admin', 'user'] },
          },
          required: ['id', 'email', 'role'],
        },
        NewUser: {
          type: 'object',
          properties: { name: { type: 'string', maxLength: 100 }, age: { type: 'integer' } },
          required: ['name'],
        },
      },
    },
  }
  edit(document)
  return document
}

function changesAfter(edit: Edit) {
  return findChanges(
    makeDocument(() => {}),
    makeDocument(edit),
  )
}

const breaking: [string, Edit][] = [
  ['a path is removed', (d) => delete d.paths['/users/']],
  ['an operation is removed', (d) => delete d.paths['/users/'].post],
  ['a status is removed', (d) => delete d.paths['/users/'].post.responses['409']],
  ['a response field is removed', (d) => delete d.components.schemas.User.properties.email],
  ['a response field becomes optional', (d) => d.components.schemas.User.required.pop()],
  ['a response gets a new enum value', (d) => d.components.schemas.User.properties.role.enum.push('guest')],
  [
    'a response field changes its type',
    (d) => Object.assign(d.components.schemas.User.properties.id, { type: 'string' }),
  ],
  [
    'a response field becomes nullable',
    (d) => Object.assign(d.components.schemas.User.properties.id, { type: ['integer', 'null'] }),
  ],
  ['a request field becomes required', (d) => d.components.schemas.NewUser.required.push('age')],
  ['a request field is removed', (d) => delete d.components.schemas.NewUser.properties.age],
  ['a request limit is lowered', (d) => Object.assign(d.components.schemas.NewUser.properties.name, { maxLength: 50 })],
  [
    'a request rejects unknown fields',
    (d) => Object.assign(d.components.schemas.NewUser, { additionalProperties: false }),
  ],
  ['a parameter accepts fewer values', (d) => d.paths['/users/'].get.parameters[0].schema.enum.pop()],
  ['a parameter becomes required', (d) => Object.assign(d.paths['/users/'].get.parameters[1], { required: true })],
  ['a parameter is removed', (d) => d.paths['/users/'].get.parameters.pop()],
  [
    'a body becomes required',
    (d) => Object.assign(d.paths['/users/'].delete, { requestBody: { required: true, ...json({}) } }),
  ],
  ['an operation requires credentials', (d) => Object.assign(d.paths['/users/'].get, { security: [{ key: [] }] })],
]

test.each(breaking)('the change is breaking: %s', (_, edit) => {
  expect(changesAfter(edit).some((change) => change.breaking)).toBe(true)
})

const compatible: [string, Edit][] = [
  ['a new path', (d) => Object.assign(d.paths, { '/books/': d.paths['/users/'] })],
  ['a new status', (d) => Object.assign(d.paths['/users/'].post.responses, { '429': { description: 'Slow down' } })],
  ['a new response field', (d) => Object.assign(d.components.schemas.User.properties, { age: { type: 'integer' } })],
  ['a new optional request field', (d) => Object.assign(d.components.schemas.NewUser.properties, { nick: {} })],
  [
    'a request field becomes nullable',
    (d) => Object.assign(d.components.schemas.NewUser.properties.age, { type: ['integer', 'null'] }),
  ],
  ['a higher request limit', (d) => Object.assign(d.components.schemas.NewUser.properties.name, { maxLength: 200 })],
  ['a new optional parameter', (d) => d.paths['/users/'].get.parameters.push({ name: 'q', in: 'query', schema: {} })],
  ['a new title', (d) => Object.assign(d.info, { title: 'People' })],
]

test.each(compatible)('the change is compatible: %s', (_, edit) => {
  const changes = changesAfter(edit)
  expect(changes.length).toBeGreaterThan(0)
  expect(changes.filter((change) => change.breaking)).toEqual([])
})

test('renaming a component is not a change', () => {
  const changes = changesAfter(({ paths, components }) => {
    components.schemas.Person = components.schemas.User
    delete components.schemas.User
    paths['/users/'].get.responses['200'].content['application/json'].schema.$ref = '#/components/schemas/Person'
  })
  expect(changes).toEqual([])
})

test('moving a schema into a component is not a change, and a change in the component is one', () => {
  const move = (role: object) =>
    changesAfter(({ components }) => {
      const { User } = components.schemas
      components.schemas.Role = { ...User.properties.role, ...role }
      User.properties.role = { $ref: '#/components/schemas/Role', description: 'What the user may do.' }
    })
  expect(move({}).filter(({ path }) => path.at(-1) !== 'description')).toEqual([])
  expect(move({ enum: ['admin', 'user', 'guest'] }).map(({ path }) => path.slice(-3))).toContainEqual([
    'role',
    'enum',
    '2',
  ])
})

test('a change contains its path and the values before and after', () => {
  const changes = changesAfter((d) => Object.assign(d.components.schemas.User.properties.id, { type: 'string' }))
  expect(changes).toEqual([
    {
      path: 'paths,/users/,get,responses,200,content,application/json,schema,properties,id,type'.split(','),
      breaking: true,
      before: 'integer',
      after: 'string',
    },
  ])
})

test('a comparison does not modify the documents', () => {
  const nullable = { anyOf: [{ type: 'integer' }, { type: 'null' }], examples: [1] }
  const document = makeDocument((d) => Object.assign(d.components.schemas.User.properties, { age: nullable }))
  const copy = structuredClone(document)
  findChanges(
    document,
    makeDocument(() => {}),
  )
  expect(document).toEqual(copy)
})
