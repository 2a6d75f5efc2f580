import type { CallOptions } from '@resource/client'
import { client } from '../client.ts'
import type { Noun, Row } from './resource.ts'

type Call<T> = (input: object, options?: CallOptions) => Promise<T>

/** A page of a noun's list: its records under the noun, and the cursor of what follows, which is null at the end. */
type Page = { next: string | null; total?: number } & Record<string, unknown>

interface Calls {
  list: { query: Call<Page> }
  get: { query: Call<Row> }
  create: { mutate: Call<Row> }
  createMany: { mutate: Call<unknown> }
  /** Throws VersionMismatchError when the record has another version than `if_version`, as do `replace` and `delete`. */
  update: { mutate: Call<Row> }
  replace: { mutate: Call<Row> }
  delete: { mutate: Call<unknown> }
  /** Every page of the list along the cursor. */
  pages: (input: object, options?: CallOptions) => AsyncGenerator<Page>
}

/** The one place that calls a noun without knowing which: the contract's tests see to it that each has these verbs. */
export function calls(noun: Noun): Calls {
  return client[noun] as unknown as Calls
}
