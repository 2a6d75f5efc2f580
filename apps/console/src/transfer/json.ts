import { recordOf } from './mapping.ts'
import type { TableRow } from './table-row.ts'

/** Reads the rows of a JSON array, of one object, or of JSON lines. @throws Error with a message for users */
export function readJson(text: string): TableRow[] {
  const values = /^\s*\[/.test(text) ? wholeArray(text) : (oneObject(text) ?? jsonLines(text))
  return values.map(([line, value]) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw new Error(`Line ${line} must be a JSON object`)
    }
    return { line, values: recordOf(Object.entries(value)) }
  })
}

type Numbered = [line: number, value: unknown]

function wholeArray(text: string): Numbered[] {
  let values: unknown[]
  try {
    values = JSON.parse(text) as unknown[]
  } catch (error) {
    throw new Error(`The JSON array is invalid: ${(error as Error).message}`)
  }
  const lines = elementLines(text)
  return values.map((value, index) => [lines[index] ?? 1, value])
}

/** The line on which each element of a valid JSON array starts. */
function elementLines(text: string): number[] {
  const lines: number[] = []
  let line = 1
  let depth = 0
  let isBetween = false
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|\n|[[\]{},]|[^\s[\]{},"]+/g)) {
    if (token === '\n') {
      line++
      continue
    }
    if (depth === 1 && isBetween && token !== ']') {
      lines.push(line)
      isBetween = false
    }
    if (token === '[' || token === '{') depth++
    if (token === ']' || token === '}') depth--
    if (depth === 1 && (token === ',' || lines.length === 0)) isBetween = true
  }
  return lines
}

function oneObject(text: string): Numbered[] | undefined {
  try {
    return [[1, JSON.parse(text)]]
  } catch {
    return undefined
  }
}

function jsonLines(text: string): Numbered[] {
  return text.split('\n').flatMap((line, index): Numbered[] => {
    if (line.trim() === '') return []
    try {
      return [[index + 1, JSON.parse(line) as unknown]]
    } catch {
      throw new Error(`Line ${index + 1} is not valid JSON`)
    }
  })
}
