import { withEntries } from './field.ts'
import type { Field } from './fields.ts'
import type { Names } from './names.ts'

/** The source code of the resource's tests, unformatted. */
export function testSource({ noun }: Names, fields: Field[]): string {
  return `import { testCollection } from './collection-tests.ts'

testCollection('${noun}', ${JSON.stringify(casesOf(fields))})
`
}

/** Adds cases for new fields to the tests, unformatted. */
export function withCases(source: string, fields: Field[]): string {
  return Object.entries(casesOf(fields)).reduce((text, [name, values]) => {
    const entries = Object.entries(values).map(([key, value]) => `${JSON.stringify(key)}: ${JSON.stringify(value)}`)
    return withEntries(text, name, entries)
  }, source)
}

/** Those of the fields that requests can set. */
function casesOf(all: Field[]) {
  const fields = all.filter(({ readOnly }) => !readOnly)
  const valuesOf = (value: (field: Field) => unknown) => Object.fromEntries(fields.map((one) => [one.name, value(one)]))
  const lists = fields.flatMap(({ name, filters, values: [less, more] }) => {
    if (filters === 'none') return []
    return [filters === 'value' ? [`${name}=${less}`, less === more ? [1, 2] : [1]] : [`${name}_gte=${more}`, [2]]]
  })
  return {
    first: valuesOf(({ values }) => values[0]),
    second: valuesOf(({ values }) => values[1]),
    invalid: valuesOf(({ invalid }) => invalid),
    lists: Object.fromEntries(lists) as Record<string, unknown>,
  }
}
