import { execFile } from 'node:child_process'
import { mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { skyDocument } from './sky.ts'

// biome-ignore lint/suspicious/noExplicitAny: a parsed document of any shape
const document: any = JSON.parse(JSON.stringify(skyDocument()))
const { paths, components } = document

// biome-ignore lint/suspicious/noExplicitAny: see above
const operations: any[] = Object.values(paths).flatMap((item: any) => Object.values(item))

const named = (operationId: string) => operations.find((operation) => operation.operationId === operationId)
const bodyOf = (operationId: string) => {
  const { $ref, ...schema } = named(operationId).requestBody.content['application/json'].schema
  return $ref === undefined ? schema : components.schemas[$ref.split('/').at(-1)]
}

test('the document has an info object', () => {
  expect(document.openapi).toMatch(/^3\.1\./)
  expect(document.info).toEqual({
    title: 'Sky',
    version: '1.2.3',
    description: 'Planets and moons.',
    contact: { name: 'Astronomers' },
    license: { name: 'MIT', identifier: 'MIT' },
  })
})

test('the document has the tags of all resources, and a tag of a binding follows that of its resource', () => {
  const tags = document.tags.map(({ name }: { name: string }) => name)
  expect(tags).toEqual(['Planets', 'Worlds', 'Moons', 'Probes', 'Failures', 'Home'])
  expect(named('listWorlds').tags).toEqual(['Worlds'])
})

test('every binding has an operation with a unique id', () => {
  expect(Object.entries<object>(paths).map(([path, item]) => `${path} ${Object.keys(item)}`)).toEqual([
    '/planets get,post',
    '/planets/ get,post',
    '/worlds get',
    '/planets/{id} get,put,delete',
    '/planets/{id}/ get,put',
    '/worlds/{world_id} get,delete',
    '/planets/bulk post',
    '/planets/{planet_id}/moons get',
    '/moons/{name} get',
    '/probes/{count} get',
    '/probes post',
    '/failures/{how} get,put',
    '/ get',
  ])
  const ids = operations.map(({ operationId }) => operationId)
  expect(new Set(ids).size).toBe(ids.length)
})

test('every reference resolves', () => {
  const references = [...JSON.stringify(document).matchAll(/"#\/components\/(\w+)\/([^"]+)"/g)]
  expect(references.length).toBeGreaterThan(20)
  for (const [reference, kind, name] of references) {
    expect([reference, components[kind as string]?.[name as string] !== undefined]).toEqual([reference, true])
  }
})

test('every operation declares its path parameters as required', () => {
  for (const [path, item] of Object.entries<object>(paths)) {
    const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
    for (const { parameters } of Object.values(item)) {
      const inPath = parameters.filter(
        (parameter: { in: string; required: boolean }) => parameter.in === 'path' && parameter.required,
      )
      expect(inPath.map(({ name }: { name: string }) => name)).toEqual(names)
    }
  }
})

test('an operation has the parameters of its binding', () => {
  const parameters = (id: string) =>
    named(id)
      .parameters.map((parameter: { in: string; name: string }) => `${parameter.in} ${parameter.name}`)
      .sort()
  expect(parameters('getWorld')).toEqual(['header If-None-Match', 'path world_id'])
  expect(parameters('createPlanet')).toEqual(['header Idempotency-Key', 'header Prefer'])
  expect(parameters('replacePlanet')).toEqual(['header If-Match', 'header Prefer', 'path id'])
  expect(parameters('look')).toEqual([
    'header X-Depth',
    'path count',
    'query label',
    'query on',
    'query ratio',
    'query sizes',
    'query tags',
    'query words',
  ])
  const sizes = named('look').parameters.find(({ name }: { name: string }) => name === 'sizes')
  expect(sizes).toMatchObject({ style: 'form', explode: false, schema: { type: 'array' } })
  const words = named('look').parameters.find(({ name }: { name: string }) => name === 'words')
  expect([words.style, words.explode, words.schema.type]).toEqual([undefined, undefined, 'array'])
  expect(parameters('listPlanets')).toEqual(['query kind', 'query limit', 'query radius_lt', 'query ringed'])
})

describe('a body', () => {
  test('has the fields without another source', () => {
    expect(Object.keys(bodyOf('createPlanet').properties)).toEqual(['name', 'kind', 'radius', 'ringed'])
    expect(bodyOf('createPlanet').required).toEqual(['name', 'radius'])
    expect(Object.keys(bodyOf('replacePlanet').properties)).toEqual(['name', 'kind', 'radius', 'ringed'])
    expect(named('listPlanets').requestBody).toBe(undefined)
    expect(named('deletePlanet').requestBody).toBe(undefined)
  })

  test('is an array if a list field is the whole body', () => {
    expect(bodyOf('createPlanets')).toMatchObject({ type: 'array', minItems: 1, maxItems: 3 })
  })

  test('requires an aliased field under one of its keys', () => {
    const { properties, required, allOf } = bodyOf('createTitledPlanet')
    expect(Object.keys(properties)).toEqual(['name', 'kind', 'radius', 'ringed', 'title'])
    expect(required).toEqual(['radius'])
    expect(allOf).toEqual([{ anyOf: [{ required: ['name'] }, { required: ['title'] }] }])
  })
})

describe('the responses of an operation', () => {
  const statuses = (id: string) => Object.keys(named(id).responses).join(' ')

  test('include every possible status', () => {
    expect(statuses('listPlanets')).toBe('200 400 401 403 406 500')
    expect(statuses('getPlanet')).toBe('200 304 400 401 403 404 406 500')
    expect(statuses('createPlanet')).toBe('201 400 401 403 406 409 413 415 500')
    expect(statuses('createTitledPlanet')).toBe('200 400 401 403 406 409 413 415 500')
    expect(statuses('replacePlanet')).toBe('200 400 401 403 404 406 412 413 415 500')
    expect(statuses('deletePlanet')).toBe('200 400 401 403 404 406 500')
    expect(statuses('deleteWorld')).toBe('204 400 401 403 404 406 500')
    expect(statuses('fail')).toBe('200 304 400 401 403 406 500 503')
  })

  test('require credentials and the role in the contract', () => {
    expect(document.components.securitySchemes).toEqual({
      bearer: { type: 'http', scheme: 'bearer', description: 'A key of the observatory.' },
    })
    expect(named('getPlanet')).toMatchObject({ security: [{ bearer: [] }], 'x-role': 'reader' })
    expect(named('createPlanet')).toMatchObject({ security: [{ bearer: [] }], 'x-role': 'writer' })
    expect(named('createPlanet').description).toMatch(/ Needs the role `writer`\.$/)
    expect(named('getHome').description).toBe('Needs the role `reader`.')
  })

  test('have their headers', () => {
    const headers = (id: string, status: number) => {
      const response = named(id).responses[status]
      const { headers } = response.$ref ? components.responses[response.$ref.split('/').at(-1)] : response
      return Object.keys(headers)
    }
    expect(headers('listPlanets', 200)).toEqual(['X-Served-By', 'X-Total', 'X-Limit'])
    expect(headers('createPlanet', 201)).toEqual(['X-Served-By', 'Location', 'ETag'])
    expect(headers('replacePlanetQuietly', 204)).toEqual(['X-Served-By', 'ETag'])
    expect(headers('createPlanet', 415)).toEqual(['X-Served-By', 'Accept', 'Accept-Encoding'])
    expect(headers('fail', 503)).toEqual(['X-Served-By', 'Retry-After'])
    expect(headers('getPlanet', 304)).toEqual(['X-Served-By', 'ETag'])
  })

  test('have the error form of their resource', () => {
    const form = (id: string) => {
      const response = named(id).responses[400]
      const { content } = response.$ref ? components.responses[response.$ref.split('/').at(-1)] : response
      const { schema } = content['application/json']
      return schema.$ref ?? Object.keys(schema.properties)
    }
    expect(form('getPlanet')).toBe('#/components/schemas/Fault')
    expect(form('listMoons')).toBe('#/components/schemas/Detail')
    expect(form('fail')).toEqual(['oops'])
    expect(form('getHome')).toEqual(['alas'])
  })
})

describe('the document of the envelope', () => {
  // biome-ignore lint/suspicious/noExplicitAny: a parsed document of any shape
  const enveloped: any = JSON.parse(JSON.stringify(skyDocument('envelope')))
  const operation = (method: string, path: string) => enveloped.paths[path][method]

  test('has the same operations, each with envelope=true', () => {
    const idsOf = (paths: object) => JSON.stringify(paths).match(/"operationId":"\w+"/g)
    expect(idsOf(enveloped.paths)).toEqual(idsOf(paths))
    const { parameters } = operation('get', '/worlds/{world_id}')
    expect(parameters.find(({ name }: { name: string }) => name === 'envelope')).toMatchObject({
      in: 'query',
      required: true,
      schema: { type: 'boolean', const: true },
    })
  })

  test('has each answer in the envelope, under a name, and one form of errors', () => {
    const { responses } = operation('get', '/worlds/{world_id}')
    const { $ref } = responses[200].content['application/json'].schema
    expect($ref).toBe('#/components/schemas/GetWorldEnvelope')
    expect(Object.keys(enveloped.components.schemas.GetWorldEnvelope.properties)).toEqual(['ok', 'data', 'meta'])
    expect(responses[400].$ref).toBe('#/components/responses/Wrapped400')
  })

  test('has a body where the plain answer is empty', () => {
    const { responses } = operation('delete', '/worlds/{world_id}')
    expect(Object.keys(responses).join(' ')).toBe('200 400 401 403 404 406 500')
  })
})

test('an entity tag in an example is one of its own answers', () => {
  const { parameters } = named('replacePlanet')
  const ifMatch = parameters.find(({ name }: { name: string }) => name === 'If-Match')
  expect(ifMatch.schema.examples).toEqual(['"3-Planet.5b1f0c"'])
})

test('a nullable value is one type with null, and a date has no pattern', () => {
  expect(JSON.stringify(document)).not.toMatch(/"type":"null"/)
})

test('a named schema is one component, even if several bindings use it', () => {
  const names = ['Planet', 'PlanetName', 'Message', 'Fault', 'Detail']
  expect(Object.keys(components.schemas)).toEqual(expect.arrayContaining(names))
  const bodies = Object.keys(components.schemas).filter((name) => name.endsWith('Body'))
  expect(bodies.sort()).toEqual(['CreatePlanetBody', 'CreateTitledPlanetBody', 'ReplacePlanetBody', 'SendBody'])
  expect(JSON.stringify(paths).match(/"ringed":\{"type"/g)).toBe(null)
})

test('the document is deterministic', () => {
  expect(JSON.stringify(skyDocument())).toBe(JSON.stringify(skyDocument()))
})

test('the document passes a linter', async () => {
  const root = fileURLToPath(new URL('../../..', import.meta.url))
  await using directory = await mkdtempDisposable(join(tmpdir(), 'sky-'))
  const file = join(directory.path, 'openapi.json')
  const ruleset = join(directory.path, 'ruleset.json')
  await writeFile(file, JSON.stringify(document))
  const rules = { 'path-keys-no-trailing-slash': 'off', 'info-license': 'error', 'tag-description': 'error' }
  await writeFile(ruleset, JSON.stringify({ extends: ['spectral:oas'], rules }))
  const options = ['lint', file, '--ruleset', ruleset, '--fail-severity=warn']
  const { stdout } = await promisify(execFile)(join(root, 'node_modules/.bin/spectral'), options)
  expect(stdout).toContain('No results')
})
