import type { Text } from './csv.ts'
import { ImportError } from './error.ts'

const MAX_CHARACTERS = 1024 * 1024
/** A complete string, a structural character, or text between those. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[[\]{},\n]|[^"[\]{},\n]+/gsy

/** One JSON value of a file as text, and the line on which it starts. */
export interface JsonText {
  line: number
  /** Its number in a JSON file, from 1. Such a file often has one line. */
  element?: number
  text: string
}

/** The non-blank lines of a file. */
export async function* jsonLines(text: Text): AsyncGenerator<JsonText> {
  let rest = ''
  let line = 0
  for await (const part of text) {
    const parts = (rest + part).split('\n')
    rest = parts.pop() ?? ''
    for (const part of parts) {
      line++
      if (part.trim() !== '') yield { line, text: part }
    }
    if (rest.length > MAX_CHARACTERS) {
      throw new ImportError(
        `Line ${line + 1}: must be at most ${MAX_CHARACTERS} characters. Check that the file is NDJSON`,
      )
    }
  }
  if (rest.trim() !== '') yield { line: line + 1, text: rest }
}

/** The elements of a file that contains one JSON array, or its objects. Only the current one is in memory. */
export async function* jsonElements(text: Text): AsyncGenerator<JsonText> {
  let isArray: boolean | undefined
  let depth = 0
  let line = 1
  let begin = 1
  let count = 0
  let element = ''
  let rest = ''
  let isOver = false
  for await (const chunk of text) {
    rest += chunk
    let end = 0
    for (const [token] of rest.matchAll(TOKEN)) {
      end += token.length
      if (depth === 0 && token.trim() !== '') {
        if (token !== '{' && (token !== '[' || isArray !== undefined)) throw unexpectedContent(line)
        if (token === '{' && isArray === true) throw unexpectedContent(line)
        isArray ??= token === '['
        isOver = false
      }
      const isEnd = token === ']' || token === '}'
      if (isEnd) depth--
      const isBetween = isArray ? depth === 0 || (depth === 1 && token === ',') : depth === 0 && token !== '{' && !isEnd
      if (!isBetween) {
        if (element.trim() === '') begin = line
        element += token
      }
      if (isArray ? isBetween && token !== '[' && token.trim() !== '' : depth === 0 && isEnd) {
        isOver = depth === 0
        if (!isOver || element.trim() !== '') yield { line: begin, element: ++count, text: element }
        element = ''
      }
      if (token === '[' || token === '{') depth++
      line += token.split('\n').length - 1
    }
    // An unfinished string; the next chunk completes it.
    rest = rest.slice(end)
    if (depth === 0 && rest !== '') throw unexpectedContent(line)
    if (element.length + rest.length > MAX_CHARACTERS) {
      throw new ImportError(`Record ${count + 1}: must be at most ${MAX_CHARACTERS} characters`)
    }
  }
  if (!isOver)
    throw new ImportError(isArray === false ? 'The last object must end with }' : 'The JSON array must end with ]')
}

function unexpectedContent(line: number) {
  return new ImportError(`Line ${line}: the file must contain one JSON array and nothing else`)
}
