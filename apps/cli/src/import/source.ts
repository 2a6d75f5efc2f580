import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { isUtf16, type Text } from '@resource/import'
import { invalid } from '../failures.ts'

const SAMPLE_CHARACTERS = 256 * 1024

/**
 * The SHA-256 of a file; empty for stdin.
 *
 * @throws Failure if the file is not UTF-8, before any row of it is sent
 */
export async function digestOf(file: string): Promise<string> {
  if (file === '-') return ''
  const hash = createHash('sha256')
  for await (const text of decoded(createReadStream(file), file)) hash.update(text)
  return hash.digest('hex')
}

/** @throws Failure if the bytes are not UTF-8: they would be stored as other characters */
async function* decoded(bytes: AsyncIterable<Buffer>, file: string): Text {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  try {
    let isFirst = true
    for await (const chunk of bytes) {
      if (isFirst && isUtf16(chunk)) throw new TypeError('UTF-16')
      isFirst = false
      yield decoder.decode(chunk, { stream: true })
    }
    yield decoder.decode()
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw invalid(`${file === '-' ? 'stdin' : file} is not UTF-8. In a spreadsheet, save it as "CSV UTF-8"`)
  }
}

/** The beginning of a text, and the whole text. */
interface Source {
  sample: string
  text: () => Text
}

/** Opens a file, or stdin for `-`, which can be read only once. */
export async function openSource(file: string): Promise<Source> {
  return file === '-' ? peeked(decoded(process.stdin, file)) : opened(file)
}

async function opened(file: string): Promise<Source> {
  const { sample } = await peeked(decoded(createReadStream(file), file))
  return { sample, text: () => createReadStream(file, 'utf8') }
}

async function peeked(whole: Text): Promise<Source> {
  const iterator = whole[Symbol.asyncIterator]()
  const read: string[] = []
  let characters = 0
  while (characters < SAMPLE_CHARACTERS) {
    const { value, done } = await iterator.next()
    if (done) break
    read.push(value)
    characters += value.length
  }
  async function* text() {
    yield* read
    for (let next = await iterator.next(); !next.done; next = await iterator.next()) yield next.value
  }
  return { sample: read.join(''), text }
}
