import { invalid } from '../failures.ts'
import type { Text } from './row.ts'

const LONGEST = 1024 * 1024

/** A JSON text of a file and the line it begins on. */
export interface Piece {
  line: number
  text: string
}

/** The lines of a file that are not blank. */
export async function* lines(text: Text): AsyncGenerator<Piece> {
  let rest = ''
  let line = 0
  for await (const chunk of text) {
    const parts = (rest + chunk).split('\n')
    rest = parts.pop() ?? ''
    for (const part of parts) {
      line++
      if (part.trim() !== '') yield { line, text: part }
    }
    if (rest.length > LONGEST) throw invalid(`Line ${line + 1} is longer than ${LONGEST} characters; is this NDJSON?`)
  }
  if (rest.trim() !== '') yield { line: line + 1, text: rest }
}
