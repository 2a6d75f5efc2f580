import { invalid } from '../failures.ts'
import type { Piece } from './ndjson.ts'
import type { Text } from './row.ts'

const LONGEST = 1024 * 1024
/** A whole string, a mark of structure, or a part of what lies between. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[[\]{},\n]|[^"[\]{},\n]+/gsy

/** The elements of a file that is one JSON array, one after the other: only the current one is in memory. */
export async function* elements(text: Text): AsyncGenerator<Piece> {
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
      if (depth === 0 && token.trim() !== '' && (token !== '[' || isOver)) throw notAlone(line)
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
    // A string that the next chunk ends.
    rest = rest.slice(end)
    if (depth === 0 && rest !== '') throw notAlone(line)
    if (element.length + rest.length > LONGEST) {
      throw invalid(`Line ${begin}: an element longer than ${LONGEST} characters`)
    }
  }
  if (!isOver) throw invalid('The JSON array does not end')
}

function notAlone(line: number) {
  return invalid(`Line ${line}: a JSON array stands alone in its file`)
}
