import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import type { Text } from './rows/row.ts'

const SAMPLE_CHARACTERS = 256 * 1024

/** The SHA-256 of a file; empty for stdin. */
export async function digestOf(file: string): Promise<string> {
  if (file === '-') return ''
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(file)) hash.update(chunk)
  return hash.digest('hex')
}

/** The beginning of a text, and the whole text. */
interface Source {
  sample: string
  text: () => Text
}

/** Opens a file, or stdin for `-`, which can be read only once. */
export async function openSource(file: string): Promise<Source> {
  return file === '-' ? peeked(process.stdin.setEncoding('utf8')) : opened(file)
}

async function opened(file: string): Promise<Source> {
  const { sample } = await peeked(createReadStream(file, 'utf8'))
  return { sample, text: () => createReadStream(file, 'utf8') }
}

async function peeked(stream: NodeJS.ReadableStream): Promise<Source> {
  const iterator = stream[Symbol.asyncIterator]() as AsyncIterator<string>
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
