import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { type AuditEntry, type Database, Slots, type Where } from '@resource/database'
import { COLUMNS, type Entry, entryOf, type Filter, LAST_VERSION, wanted } from './entry.ts'
import { type Found, Kept } from './kept.ts'
import { assertKept, cursorOf, newestOf, oldestOf, type Position } from './position.ts'

// On PostgreSQL a larger page counts as a long read.
const PAGE = 200
/** Under constant writes, the least time between two reads. */
const MIN_INTERVAL_MS = 8
// What other processes have written is seen by a query, on SQLite by a counter in memory that they share.
const SQLITE_INTERVAL_MS = 10
const POSTGRES_INTERVAL_MS = 25
const RETRY_MS = 250
/** How long it runs after the last interest. */
const PAUSE_MS = 10_000
/** The greatest age of the position that a list gets, and from which age on it is read again in the background. */
const MAX_AGE_MS = 5_000
const REFRESH_MS = 250
/** How long it waits for other transactions before it takes an old position. */
const MAX_WAIT_MS = 1_000

/** Transactions that were open when ids up to `upTo` were missing, and may have them. */
interface Gap {
  upTo: Position
  writers: ReadonlySet<string>
  sinceMs: number
}

/**
 * Reads the audit log in its order, once for all followers of the process.
 *
 * On SQLite writes are committed in the order of their ids. On PostgreSQL an id is missing because its transaction is open, or was
 * rolled back. No time tells these apart, but locks do: once the transactions have ended that had written entries when the
 * id was missing, a later statement finds it, or it will never be used.
 */
export class Tailer {
  readonly #database: Database
  /** Runs a function without the context of the request that caused it. */
  readonly #outside = AsyncLocalStorage.snapshot()
  readonly #onError: (error: unknown) => void
  readonly #listeners = new Set<(entries: Entry[]) => void>()
  readonly #kept = new Kept()
  /** Reading and decoding a page takes milliseconds: callers take turns, and other requests are served in between. */
  readonly #turns = new Slots(1, { maxWaitMs: Number.POSITIVE_INFINITY })
  /** All entries up to it are known. Undefined until it is known which these are. */
  #head: Position | undefined
  /** Missing ids up to this one will never be used. */
  #settledId = 0
  #gap: Gap | undefined
  #interest = 0
  #polling: NodeJS.Timeout | undefined
  #pause: NodeJS.Timeout | undefined
  #othersVersion: unknown
  #isChanging = false
  #isRunning = false
  #asked: PromiseWithResolvers<void> | undefined
  /** When it last read, and when that last succeeded. */
  #triedMs = Number.NEGATIVE_INFINITY
  #readMs = Number.NEGATIVE_INFINITY
  #isClosed = false
  /** Increases when entries that were published are gone: the database was restored, or another server took over. */
  losses = 0

  /** @param onError gets errors of the database; the tailer tries again */
  constructor(database: Database, onError: (error: unknown) => void = () => {}) {
    this.#database = database
    this.#onError = onError
  }

  get head(): Position | undefined {
    return this.#head
  }

  /** The seconds since the log was read, and since an id is missing. */
  ages(): { head: number; gap: number } {
    const since = (ms: number | undefined) => (ms === undefined ? 0 : (performance.now() - ms) / 1000)
    return { head: this.#isLive ? since(this.#readMs) : 0, gap: this.#isLive ? since(this.#gap?.sinceMs) : 0 }
  }

  /** Reads on until the returned function is called. `listener` gets new entries; none if only the head has changed. */
  follow(listener: (entries: Entry[]) => void): () => void {
    this.#listeners.add(listener)
    this.#start()
    return () => {
      if (this.#listeners.delete(listener)) this.#release()
    }
  }

  /** Reads all that was committed before the call, unless it is behind a gap. @throws an error of the database */
  async refresh(): Promise<void> {
    this.#start()
    await this.#askForHead().finally(() => this.#release())
  }

  /**
   * The cursor of a position such that all changes come after it that later reads may not show. Usually from memory: only after
   * a pause it takes a statement. Undefined if the database does not answer.
   */
  position(): string | undefined | Promise<string | undefined> {
    if (this.#hasFailed) return undefined
    const ageMs = this.#isLive ? 0 : performance.now() - this.#readMs
    if (this.#head === undefined || ageMs > MAX_AGE_MS) return this.#renewed()
    if (ageMs > REFRESH_MS) this.#ask().catch(() => {})
    return cursorOf(this.#head)
  }

  /**
   * The changes after a position that a filter wants, among the next ones. `to` is the last position that was examined: the head if
   * there are no more. What is not in memory is read in turn between callers.
   *
   * @param max the most changes to return
   * @throws ApiError 410 if the position is gone
   */
  after(position: Position, filter: Filter, max: number, caller: string): Awaitable<Found> {
    return this.#inMemory(position, filter, max) ?? this.inTurn(position, filter, max, caller)
  }

  /** The same in turn between callers, whether in memory or not: for an answer of its own, which is not shared. */
  inTurn(position: Position, filter: Filter, max: number, caller: string): Promise<Found> {
    return this.#turns.run(
      async () => this.#inMemory(position, filter, max) ?? this.#stored(position, filter, max),
      caller,
    )
  }

  /** @throws ApiError 410 if the entry of a position is gone */
  assertKept(position: Position): Promise<void> {
    return assertKept(this.#database.read, position)
  }

  close(): void {
    this.#isClosed = true
    this.#asked?.resolve()
    clearTimeout(this.#pause)
    this.#stop()
  }

  /** Whether the last read failed just before. */
  get #hasFailed(): boolean {
    return this.#readMs < this.#triedMs && performance.now() - this.#triedMs < RETRY_MS
  }

  get #isLive(): boolean {
    return this.#polling !== undefined
  }

  /** Undefined if entries after the position are no longer in memory. */
  #inMemory(position: Position, filter: Filter, max: number): Found | undefined {
    if (position.id >= (this.#head?.id ?? 0)) return { entries: [], to: position }
    return this.#kept.after(position, filter, max)
  }

  async #stored(position: Position, filter: Filter, max: number): Promise<Found> {
    const head = this.#head ?? position
    const { resources, record_id } = filter
    const [resource] = resources
    const where = { id: { gt: position.id, lte: head.id }, record_id, ...(resources.size === 1 && { resource }) }
    const found = await this.#page(where)
    // Afterwards: when entries are deleted, that of the position is one of the first.
    await this.assertKept(position)
    const matching = found.flatMap((entry) => wanted(entry, filter) ?? [])
    const entries = matching.slice(0, max)
    const last = entries.length < matching.length ? entries.at(-1) : found[PAGE - 1]
    return { entries, to: last ?? head }
  }

  async #page(where: Where<AuditEntry>): Promise<Entry[]> {
    const order = { column: 'id', descending: false } as const
    const rows = await this.#database.read.auditEntries.page({ columns: COLUMNS, where, order, take: PAGE })
    const entries = rows.map((row) => entryOf(row, this.#onError))
    for (const entry of entries) {
      const { resource, record_id, version } = entry.change ?? {}
      if (version !== LAST_VERSION) continue
      const table = this.#database.read[resource as 'items']
      if ((await table.find({ id: record_id }, ['id'])) !== undefined) entry.change = undefined
    }
    return entries
  }

  async #renewed(): Promise<string | undefined> {
    try {
      await this.#askForHead()
      // Undefined if a transaction has written and stays open: which of the newest entries are settled is not known.
      const known = this.#head ?? (await oldestOf(this.#database.read))
      return known && cursorOf(known)
    } catch {
      return undefined
    }
  }

  #start(): void {
    this.#interest++
    clearTimeout(this.#pause)
    if (this.#isLive || this.#isClosed) return
    // Otherwise it would read all that was written since.
    if (performance.now() - this.#readMs > MAX_AGE_MS) this.#head = undefined
    this.#database.onWritten(this.#wake)
    const intervalMs = this.#database.following.writers === undefined ? SQLITE_INTERVAL_MS : POSTGRES_INTERVAL_MS
    this.#polling = this.#outside(setInterval, this.#look, intervalMs).unref()
  }

  #release(): void {
    if (--this.#interest > 0 || this.#isClosed) return
    this.#pause = this.#outside(setTimeout, () => this.#stop(), PAUSE_MS).unref()
  }

  #stop(): void {
    clearInterval(this.#polling)
    this.#polling = undefined
    this.#database.onWritten(undefined)
    this.#gap = undefined
    if (this.#head !== undefined) this.#setHead(this.#head)
  }

  /** Reads if another process may have written, or the last read has failed. */
  readonly #look = (): void => {
    const { othersVersion } = this.#database.following
    // A read that is due anyway sees what others have written; the next look asks whether it has missed something.
    if (this.#hasFailed || this.#asked !== undefined) return
    const isRetry = this.#readMs < this.#triedMs
    const version = othersVersion?.()
    const hasChanged = version !== this.#othersVersion
    const isDue = othersVersion === undefined || hasChanged || this.#isChanging || isRetry
    // Once more at the next look: on SQLite a read may share the transaction of an earlier one.
    this.#isChanging = hasChanged
    this.#othersVersion = version
    if (isDue) this.#wake()
  }

  readonly #wake = (): void => void this.#ask().catch(() => {})

  /** Resolves after a read that begins from now on. */
  #ask(): Promise<void> {
    if (this.#isClosed) return Promise.resolve()
    this.#asked ??= Promise.withResolvers<void>()
    const { promise } = this.#asked
    if (!this.#isRunning) this.#outside(() => void this.#run())
    return promise
  }

  /** Reads until there is a head, at most for some time. */
  async #askForHead(): Promise<void> {
    const untilMs = performance.now() + MAX_WAIT_MS
    do await this.#ask()
    while (this.#head === undefined && performance.now() < untilMs && !this.#isClosed)
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    while (this.#asked !== undefined && !this.#isClosed) {
      const waitMs = this.#triedMs + MIN_INTERVAL_MS - performance.now()
      if (waitMs > 0) await sleep(waitMs, undefined, { ref: false })
      const asked = this.#asked
      this.#asked = undefined
      try {
        while (await this.#read());
        this.#triedMs = performance.now()
        this.#readMs = this.#triedMs
        asked.resolve()
      } catch (error) {
        this.#triedMs = performance.now()
        asked.reject(error)
        if (!this.#isClosed) this.#onError(error)
      }
    }
    this.#isRunning = false
  }

  /** Reads the next entries; without followers only how far the log is settled. @returns whether there may be more */
  async #read(): Promise<boolean> {
    const { settled, writers } = this.#database.following
    if (this.#gap !== undefined && !(await this.#isNarrower(this.#gap))) return false
    if (!this.#isLive || this.#head === undefined) {
      await this.#settleNewest()
      return this.#isLive && this.#head !== undefined
    }
    const head = this.#head
    const entries = await this.#page({ id: { gte: head.id } })
    await settled?.()
    const first = head.id === 0 ? head : entries.shift()
    if (first?.id !== head.id || first.at !== head.at) return this.#lose()
    const blocked = writers === undefined ? -1 : this.#firstBlocked(entries, head)
    this.#publish(blocked < 0 ? entries : entries.slice(0, blocked))
    if (blocked < 0) this.#gap = undefined
    // An id that was not missing at the last read is usually there at the next one.
    else if (blocked === 0 && (this.#gap === undefined || (entries[0] as Entry).id > this.#gap.upTo.id))
      return this.#mark(entries.at(-1) as Entry)
    return blocked < 0 && entries.length >= PAGE - 1
  }

  /** The index of the first entry after an id that is missing and may still be used; -1 if there is none. */
  #firstBlocked(entries: Entry[], head: Position): number {
    return entries.findIndex(({ id }, index) => {
      const before = entries[index - 1] ?? head
      return id !== before.id + 1 && id > this.#settledId
    })
  }

  /** Sets the head to the newest entry, as soon as it is known that no earlier one is missing. */
  async #settleNewest(): Promise<void> {
    const { auditEntries } = this.#database.read
    const newest = await newestOf({ auditEntries })
    await this.#database.following.settled?.()
    if (newest.id === this.#head?.id && newest.at === this.#head.at) return
    if (this.#gap === undefined) await this.#mark(newest)
  }

  /** Notes that ids up to a position may be missing. @returns whether none of them will be used */
  async #mark(upTo: Position): Promise<boolean> {
    const writers = new Set(await this.#database.following.writers?.())
    this.#gap = { upTo, writers, sinceMs: performance.now() }
    return this.#isOver(this.#gap)
  }

  /** Whether some of the transactions that may fill a gap have ended. */
  async #isNarrower(gap: Gap): Promise<boolean> {
    const { size } = gap.writers
    const open = (await this.#database.following.writers?.()) ?? []
    gap.writers = new Set(open.filter((writer) => gap.writers.has(writer)))
    return this.#isOver(gap) || gap.writers.size < size
  }

  #isOver({ writers, upTo }: Gap): boolean {
    if (writers.size > 0) return false
    this.#gap = undefined
    this.#settledId = upTo.id
    if (!this.#isLive || this.#head === undefined) {
      this.#setHead(upTo)
      for (const listener of this.#listeners) listener([])
    }
    return true
  }

  #publish(entries: Entry[]): void {
    const last = entries.at(-1)
    if (last === undefined) return
    this.#kept.add(entries)
    this.#head = { id: last.id, at: last.at }
    for (const listener of this.#listeners) listener(entries)
  }

  #lose(): true {
    this.losses++
    this.#head = undefined
    this.#gap = undefined
    this.#settledId = 0
    for (const listener of this.#listeners) listener([])
    return true
  }

  #setHead({ id, at }: Position): void {
    this.#head = { id, at }
    this.#kept.clear(this.#head)
  }
}

type Awaitable<T> = T | Promise<T>
