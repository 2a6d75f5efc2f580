import { invalid } from '../failures.ts'
import type { Piece } from './ndjson.ts'
import type { Text } from './row.ts'

const LONGEST = 1024 * 1024
const TOKEN = /["\\[\]{},\n]/g

/** The elements of a file that is one JSON array, one after the other: only the current one is in memory. */
export async function* elements(text: Text): AsyncGenerator<Piece> {
  let depth = 0
  let isString = false
  let escaped = false
  let line = 1
  let begin = 1
  let element = ''
  let isOver = false
  const take = (part: string) => {
    if (depth === 0 && part.trim() !== '') throw invalid(`Line ${line}: a JSON array stands alone in its file`)
    if (depth === 0) return
    if (element.trim() === '') begin = line
    element += part
    if (element.length > LONGEST) throw invalid(`Line ${begin}: an element longer than ${LONGEST} characters`)
  }
  for await (const chunk of text) {
    let from = 0
    if (escaped) {
      take(chunk[0] ?? '')
      from = 1
      escaped = false
    }
    TOKEN.lastIndex = from
    for (let match = TOKEN.exec(chunk); match !== null; match = TOKEN.exec(chunk)) {
      const [token] = match
      take(chunk.slice(from, match.index))
      from = match.index + 1
      if (token === '\n') {
        take(token)
        line++
      } else if (isString) {
        take(token)
        if (token === '"') isString = false
        if (token === '\\') {
          if (from < chunk.length) take(chunk[from++] ?? '')
          else escaped = true
          TOKEN.lastIndex = from
        }
      } else if (token === '"') {
        isString = true
        take(token)
      } else if (token === '[' || token === '{') {
        if (depth > 0) take(token)
        else if (token === '{' || isOver) throw invalid(`Line ${line}: a JSON array stands alone in its file`)
        depth++
      } else if (token === ']' || token === '}') {
        depth--
        if (depth > 0) take(token)
        else {
          isOver = true
          if (element.trim() !== '') yield { line: begin, text: element }
          element = ''
        }
      } else if (depth === 1 && token === ',') {
        yield { line: begin, text: element }
        element = ''
      } else take(token)
    }
    take(chunk.slice(from))
  }
  if (!isOver) throw invalid('The JSON array does not end')
}
