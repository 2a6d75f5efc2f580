import { expect, test } from 'vitest'
import { openApi30 } from '../src/pages/openapi-documents.ts'

test('C60 in OpenAPI 3.0 a reference keeps its description and default, and a choice or null allows null', async () => {
  const Size = { type: 'string', enum: ['s', 'm'] }
  const $ref = '#/components/schemas/Size'
  const properties = {
    size: { $ref, default: 's', description: 'The size.' },
    other: { anyOf: [{ $ref }, { type: 'null' }], default: null },
  }
  const document = {
    openapi: '3.1.0',
    info: { title: 'Shirts', version: '1' },
    paths: {},
    components: { schemas: { Size, Shirt: { type: 'object', properties } } },
  }
  expect(JSON.parse(JSON.stringify(await openApi30(document)))).toMatchObject({
    components: {
      schemas: {
        Shirt: {
          properties: {
            size: { allOf: [{ $ref }], default: 's', description: 'The size.' },
            other: { anyOf: [{ type: 'string', enum: ['s', 'm', null], nullable: true }], default: null },
          },
        },
      },
    },
  })
})
