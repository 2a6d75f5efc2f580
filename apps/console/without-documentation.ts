import type { Plugin } from 'vite'

const TEXTS = ['description', 'summary', 'successDescription', 'examples']

/** Removes the texts of the OpenAPI document from the contract. The console shows none of them. */
export const withoutDocumentation: Plugin = {
  name: 'without-documentation',
  apply: 'build',
  transform: {
    filter: { id: /\/packages\/contract\/(src|dist)\// },
    handler(code) {
      const texts = textsIn(this.parse(code)).toSorted((a, b) => b.start - a.start)
      return texts.reduce((rest, { start, end }) => rest.slice(0, start) + rest.slice(end).replace(/^\s*,/, ''), code)
    },
  },
}

interface Node {
  type: string
  start: number
  end: number
}

/** The properties with a text or with examples. A field of a record may have such a name, too, but its value is a schema. */
function textsIn(value: unknown): Node[] {
  if (typeof value !== 'object' || value === null) return []
  if ('key' in value && 'value' in value && isText(value.key, value.value)) return [value as unknown as Node]
  return Object.values(value).flatMap(textsIn)
}

function isText(key: unknown, value: unknown): boolean {
  const { name = '' } = key as { name?: string }
  const { type } = value as Node
  return TEXTS.includes(name) && ['Literal', 'TemplateLiteral', 'ArrayExpression'].includes(type)
}
