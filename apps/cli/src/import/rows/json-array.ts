import { invalid } from '../../failures.ts'
import type { JsonText } from './ndjson.ts'
import type { Text } from './row.ts'

const MAX_CHARACTERS = 1024 * 1024
/** A complete string, a structural character, or text between those. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[[\]{},\n]|[^"[\]{},\n]+/gsy

/** The elements of a file that contains one JSON array. Only the current element is in memory. */
export async function* elements(text: Text): AsyncGenerator<JsonText> {
  let depth = 0
  let line = 1
  let begin = 1
  let element = ''
  let rest = ''
  let isOver = false
  for await (const chunk of text) {
    rest += chunk
    let end = 0
    for (const [token] of rest.matchAll(TOKEN)) {
      end += token.length
      if (depth === 0 && token.trim() !== '' && (token !== '[' || isOver)) throw unexpectedContent(line)
      if (token === ']' || token === '}') depth--
      if (depth > 1 || (depth === 1 && token !== ',')) {
        if (element.trim() === '') begin = line
        element += token
      } else if (depth === 1 || token === ']' || token === '}') {
        isOver = depth === 0
        if (!isOver || element.trim() !== '') yield { line: begin, text: element }
        element = ''
      }
      if (token === '[' || token === '{') depth++
      line += token.split('\n').length - 1
    }
    // An unfinished string; the next chunk completes it.
    rest = rest.slice(end)
    if (depth === 0 && rest !== '') throw unexpectedContent(line)
    if (element.length + rest.length > MAX_CHARACTERS) {
      throw invalid(`Line ${begin}: an element must be at most ${MAX_CHARACTERS} characters`)
    }
  }
  if (!isOver) throw invalid('The JSON array must end with ]')
}

function unexpectedContent(line: number) {
  return invalid(`Line ${line}: the file must contain one JSON array and nothing else`)
}
