import type { NounClient as NounClientOf } from '@resource/openapi/client'
import type { Api } from './api.ts'

/** The nouns whose records can be followed. */
export type Followed = NonNullable<Api['changes']['list']['input']['resources']>[number]

/** A change of a record: `Change<'books'>`. */
export type Change<N extends Followed = Followed> = { [K in N]: Saved<K> | Deleted<K> }[N]

interface Facts<N> {
  /** The position after this change, for `after`. */
  cursor: string
  /** When the record changed. */
  at: string
  resource: N
  record_id: number
  /** The version of the record; of a deleted record the last one. */
  version: number
}

/** A record was created or updated. */
export interface Saved<N extends Followed> extends Facts<N> {
  type: `${N}.created` | `${N}.updated`
  /** The record after the change. */
  record: RecordOf<N>
}

/** A record was deleted. */
export interface Deleted<N extends Followed> extends Facts<N> {
  type: `${N}.deleted`
  record: null
}

type RecordOf<N extends Followed> = Api[N] extends { get: { output: infer R } } ? R : never

/** The options of {@link Changes}. */
export interface ChangesOptions<N extends Followed = Followed> {
  /** Default: all that the caller may read. */
  resources?: readonly N[] | undefined
  /** Only changes of this record; requires exactly one resource. */
  recordId?: number | undefined
  /** The `cursor` of a change, or the `changes_cursor` of a list. Default: only changes from now on. */
  after?: string | undefined
  /** Ends the iteration with an `AbortedError`. */
  signal?: AbortSignal | null | undefined
  /** Called with a position for `after` that belongs to no change: when the stream begins, and after changes of other records. */
  onPosition?: ((cursor: string) => void) | undefined
}

/** Every change of records, as they happen. */
export interface Changes extends NounClientOf<Api, 'changes'> {
  /**
   * Iterates over the changes, each once, those of a record in the order of its versions. It waits for further changes,
   * reconnects by itself and continues where it was.
   *
   * It throws a `GoneError` if the position no longer exists: read the lists again, and continue after their `changes_cursor`.
   * It throws other errors if access has ended or the input is invalid.
   */
  <N extends Followed = Followed>(options?: ChangesOptions<N>): AsyncGenerator<Change<N>, void, undefined>
}
