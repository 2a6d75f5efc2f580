// Fails when imports run in a circle, and names it. In each folder the files and the subfolders, each with all it holds,
// import each other in one direction only; so no file is in a circle either. Imports of types count.
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { root as checkout } from './child.mjs'

const root = process.argv[2] ?? checkout

/** By folder, by what lies in it, by what else in it that imports: one import of a file for each. */
type Arrows = Map<string, Map<string, Map<string, string>>>

const SOURCES = '{apps/*,packages/*,bench,prisma,tests}/src/**/*.{ts,tsx,mjs}'
const IMPORT = /\b(?:from|import)\s*\(?\s*'(\.[^']+)'/g

const files = new Set(
  globSync(SOURCES, { cwd: root })
    .filter((file) => !file.includes('.test.'))
    .sort(),
)
const arrows: Arrows = new Map()
for (const file of files) {
  for (const [, path = ''] of readFileSync(join(root, file), 'utf8').matchAll(IMPORT)) {
    const imported = join(dirname(file), path)
    if (files.has(imported)) add(file, imported)
  }
}
for (const [folder, inside] of arrows) {
  const circle = circleOf(inside)
  if (circle.length === 0) continue
  console.log(`${folder}: ${circle.join(' -> ')}`)
  for (const [index, name] of circle.slice(1).entries())
    console.log(`  ${inside.get(circle[index] as string)?.get(name)}`)
  process.exitCode = 1
}

function add(file: string, imported: string): void {
  const [from, to] = [file.split('/'), imported.split('/')]
  const depth = from.findIndex((part, index) => part !== to[index])
  const inside = entryOf(arrows, from.slice(0, depth).join('/'))
  entryOf(inside, from[depth] as string).set(to[depth] as string, `${file} imports ${imported}`)
}

function entryOf<Value>(map: Map<string, Map<string, Value>>, key: string): Map<string, Value> {
  const known = map.get(key) ?? new Map<string, Value>()
  map.set(key, known)
  return known
}

/** The names along a circle, the first again at its end; none where there is no circle. */
function circleOf(inside: Map<string, Map<string, string>>): string[] {
  const seen = new Set<string>()
  const from = (name: string, way: string[]): string[] => {
    if (way.includes(name)) return [...way.slice(way.indexOf(name)), name]
    if (seen.has(name)) return []
    seen.add(name)
    const next = [...(inside.get(name)?.keys() ?? [])]
    return next.reduce<string[]>((found, to) => (found.length > 0 ? found : from(to, [...way, name])), [])
  }
  return [...inside.keys()].reduce<string[]>((found, name) => (found.length > 0 ? found : from(name, [])), [])
}
