const LARGEST_32 = 2 ** 31 - 1

interface WholeNumber {
  type: 'integer' | string[]
  format?: string
  minimum?: number
  maximum?: number
}

/** Gives each whole number of a document its width, `int32` or `int64`, by which generated clients choose a type. */
export function setWidths(node: unknown): void {
  if (typeof node !== 'object' || node === null) return
  if (isWholeNumber(node)) {
    const { minimum = -Infinity, maximum = Infinity } = node
    node.format ??= minimum >= -LARGEST_32 && maximum <= LARGEST_32 ? 'int32' : 'int64'
  }
  for (const child of Object.values(node)) setWidths(child)
}

function isWholeNumber(node: object): node is WholeNumber {
  const { type } = node as { type?: unknown }
  return type === 'integer' || (Array.isArray(type) && type.includes('integer'))
}
