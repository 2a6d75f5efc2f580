import { client } from '../client.ts'
import { editVerb, type Noun, type Row } from './resource.ts'

interface Options {
  signal?: AbortSignal
  context?: Record<string, unknown>
}
type Call = (input: unknown, options?: Options) => Promise<never>
type Verbs = Record<string, { query: Call; mutate: Call }> & {
  pages: (input: unknown, options?: Options) => AsyncGenerator<Record<string, unknown>>
}

export interface Page {
  rows: Row[]
  /** Cursor of what follows; null at the end. */
  next: string | null
  total: number | undefined
}

// The one place that calls a noun without knowing which: the contract's tests see to it that each has these verbs.
function verbs(noun: Noun): Verbs {
  return client[noun] as unknown as Verbs
}

/** A page of the noun's list. */
export async function listRows(noun: Noun, input: Record<string, unknown>, options?: Options): Promise<Page> {
  return toPage(noun, await verb(noun, 'list').query(input, options))
}

/** Every page of the list along the cursor. */
export async function* walkRows(noun: Noun, input: Record<string, unknown>, options?: Options): AsyncGenerator<Row[]> {
  for await (const page of verbs(noun).pages(input, options)) yield toPage(noun, page).rows
}

export async function getRow(noun: Noun, id: number, options?: Options): Promise<Row> {
  return verb(noun, 'get').query({ id }, options)
}

export async function createRow(noun: Noun, input: object): Promise<Row> {
  return verb(noun, 'create').mutate(input)
}

/** Creates all or none; hashing many passwords takes the service its time. */
export async function createRows(noun: Noun, rows: object[]): Promise<void> {
  const context = { attemptTimeoutMs: 120_000, timeoutMs: 240_000 }
  await verb(noun, 'createMany').mutate({ [noun]: rows }, { context })
}

/** @throws VersionMismatchError when the record has another version than `version` */
export async function editRow(noun: Noun, id: number, version: number, input: object): Promise<Row> {
  return verb(noun, editVerb(noun)).mutate({ ...input, id, if_version: version })
}

/** @throws VersionMismatchError when the record has another version than `version` */
export async function deleteRow(noun: Noun, id: number, version: number): Promise<void> {
  await verb(noun, 'delete').mutate({ id, if_version: version })
}

function verb(noun: Noun, name: string) {
  return verbs(noun)[name] as { query: Call; mutate: Call }
}

function toPage(noun: Noun, page: Record<string, unknown>): Page {
  return { rows: page[noun] as Row[], next: page.next as string | null, total: page.total as number | undefined }
}
