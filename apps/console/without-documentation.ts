import type { Plugin } from 'vite'

const TEXTS = ['description', 'summary', 'successDescription', 'examples']

/** Removes REST bindings and the texts of the OpenAPI document from the contract. The console uses neither. */
export const withoutDocumentation: Plugin = {
  name: 'without-documentation',
  apply: 'build',
  transform: {
    filter: { id: /\/packages\/contract\/src\// },
    handler(code) {
      const unused = unusedIn(this.parse(code)).toSorted((a, b) => b.start - a.start)
      return unused.reduce((rest, { start, end }) => rest.slice(0, start) + rest.slice(end).replace(/^\s*,/, ''), code)
    },
  },
}

interface Node {
  type: string
  start: number
  end: number
}

interface Property extends Node {
  key: { name?: string }
  value: Node & { properties?: Node[] }
}

function unusedIn(node: unknown): Node[] {
  if (typeof node !== 'object' || node === null) return []
  if (isProperty(node)) {
    const { key, value } = node
    if (key.name === 'openapi' && value.properties !== undefined) return value.properties
    // A field of a record may have such a name, too, but its value is a schema.
    const isText = ['Literal', 'TemplateLiteral', 'ArrayExpression'].includes(value.type)
    if (isText && TEXTS.includes(key.name ?? '')) return [node]
  }
  return Object.values(node).flatMap(unusedIn)
}

function isProperty(node: object): node is Property {
  return 'type' in node && node.type === 'Property'
}
