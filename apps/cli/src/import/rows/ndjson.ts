import { invalid } from '../../failures.ts'
import type { Text } from './row.ts'

const MAX_CHARACTERS = 1024 * 1024

/** One JSON value of a file as text, and the line on which it starts. */
export interface JsonText {
  line: number
  text: string
}

/** The non-blank lines of a file. */
export async function* lines(text: Text): AsyncGenerator<JsonText> {
  let rest = ''
  let line = 0
  for await (const chunk of text) {
    const parts = (rest + chunk).split('\n')
    rest = parts.pop() ?? ''
    for (const part of parts) {
      line++
      if (part.trim() !== '') yield { line, text: part }
    }
    if (rest.length > MAX_CHARACTERS) {
      throw invalid(`Line ${line + 1}: must be at most ${MAX_CHARACTERS} characters. Check that the file is NDJSON`)
    }
  }
  if (rest.trim() !== '') yield { line: line + 1, text: rest }
}
