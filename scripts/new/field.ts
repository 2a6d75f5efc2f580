import { type Field, UsageError } from './fields.ts'

const TOKEN = /\/\/.*|\/\*[\s\S]*?\*\/|'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`(?:\\.|[^`\\])*`|[([{]|[)\]}]/g

/**
 * A field for records that exist already: without a default it is nullable, because they have no value.
 *
 * @throws UsageError for a unique field with a default, which all of them would share
 */
export function addedField(field: Field): Field {
  const { name, unique, default: initial } = field
  if (initial === undefined) return { ...field, nullable: true, default: null }
  if (initial === null) return field
  if (unique) throw new UsageError(`${name}: existing records would share the default of a unique field.`)
  return { ...field, existing: initial }
}

/**
 * Adds entries to the object or list of a property. If there is none, a list is added after `fields`.
 *
 * @param source `collection({ fields: { … }, filters: ['status'] })`
 * @returns it unformatted
 */
export function withEntries(source: string, property: string, entries: readonly string[]): string {
  if (entries.length === 0) return source
  const found = listAt(source, property)
  if (found === undefined) {
    const after = listAt(source, 'fields')
    if (after === undefined) throw new UsageError(`The declaration has no ${property} that a field could be added to.`)
    return `${source.slice(0, after.end + 1)},\n${property}: [${entries.join(', ')}]${source.slice(after.end + 1)}`
  }
  const before = source.slice(0, found.end).trimEnd()
  const comma = /[,[{]$/.test(before) ? '' : ','
  return `${before}${comma}\n${entries.join(',\n')},\n${source.slice(found.end)}`
}

/** Adds entries to the object or list of a property, if the declaration has it. */
export function withEntriesIn(source: string, property: string, entries: readonly string[]): string {
  return listAt(source, property) === undefined ? source : withEntries(source, property, entries)
}

/** Where the object or list of a property ends. */
function listAt(source: string, property: string): { end: number } | undefined {
  const opening = new RegExp(`\\b${property}: [[{]`).exec(source)
  if (opening === null) return undefined
  let depth = 0
  for (const { 0: token, index } of source.slice(opening.index).matchAll(TOKEN)) {
    if (/^[([{]$/.test(token)) depth++
    else if (/^[)\]}]$/.test(token) && --depth === 0) return { end: opening.index + index }
  }
  return undefined
}
