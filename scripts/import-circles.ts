// Fails when imports form a cycle, and prints it. The entries of each folder, where a subfolder counts with all its files,
// must import each other in one direction only. So files cannot form a cycle either. Type imports count.
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { root as checkout } from './run-command.mjs'

const root = process.argv[2] ?? checkout

/** Folder, importing entry, imported entry: an example of such an import. */
type ImportGraphs = Map<string, Map<string, Map<string, string>>>

const SOURCES = '{apps/*,packages/*,bench,prisma,tests}/src/**/*.{ts,tsx,mjs}'
const IMPORT = /\b(?:from|import)\s*\(?\s*'(\.[^']+)'/g

const files = new Set(
  globSync(SOURCES, { cwd: root })
    .filter((file) => !file.includes('.test.'))
    .sort(),
)
const graphs: ImportGraphs = new Map()
for (const file of files) {
  for (const [, path = ''] of readFileSync(join(root, file), 'utf8').matchAll(IMPORT)) {
    const imported = join(dirname(file), path)
    if (files.has(imported)) add(file, imported)
  }
}
for (const [folder, graph] of graphs) {
  const cycle = cycleIn(graph)
  if (cycle.length === 0) continue
  console.log(`${folder}: ${cycle.join(' -> ')}`)
  for (const [index, name] of cycle.slice(1).entries()) console.log(`  ${graph.get(cycle[index] as string)?.get(name)}`)
  process.exitCode = 1
}

function add(file: string, imported: string): void {
  const [from, to] = [file.split('/'), imported.split('/')]
  const depth = from.findIndex((part, index) => part !== to[index])
  const graph = entryOf(graphs, from.slice(0, depth).join('/'))
  entryOf(graph, from[depth] as string).set(to[depth] as string, `${file} imports ${imported}`)
}

function entryOf<Value>(map: Map<string, Map<string, Value>>, key: string): Map<string, Value> {
  const entry = map.get(key) ?? new Map<string, Value>()
  map.set(key, entry)
  return entry
}

/** The names along a cycle, with the first repeated at the end; empty without a cycle. */
function cycleIn(graph: Map<string, Map<string, string>>): string[] {
  const visited = new Set<string>()
  const from = (name: string, path: string[]): string[] => {
    if (path.includes(name)) return [...path.slice(path.indexOf(name)), name]
    if (visited.has(name)) return []
    visited.add(name)
    const next = [...(graph.get(name)?.keys() ?? [])]
    return next.reduce<string[]>((found, to) => (found.length > 0 ? found : from(to, [...path, name])), [])
  }
  return [...graph.keys()].reduce<string[]>((found, name) => (found.length > 0 ? found : from(name, [])), [])
}
