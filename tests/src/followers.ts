import { setTimeout as sleep } from 'node:timers/promises'
import { fetch } from 'undici'

/** A change as a follower got it. */
interface Followed {
  id: number
  record: string
  version: number
}

/** Follows all changes as server-sent events from the start of the log, and connects again after each break. */
export class ChangeReader implements AsyncDisposable {
  readonly changes: Followed[] = []
  readonly faults: string[] = []
  breaks = 0
  readonly #url: string
  readonly #onChange: (name: string) => void
  readonly #ended = new AbortController()
  readonly #running: Promise<void>
  #cursor: string

  constructor(url: string, after = '0-0', onChange: (name: string) => void = () => {}) {
    this.#url = `${url}/api/changes`
    this.#cursor = after
    this.#onChange = onChange
    this.#running = this.#run()
  }

  /** Resolves when the change with this id of an audit entry, or a later one, has arrived. */
  async reached(id: number, limitMs: number): Promise<void> {
    const endMs = performance.now() + limitMs
    while (Number(this.#cursor.split('-')[0]) < id && performance.now() < endMs) await sleep(5)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    while (!this.#ended.signal.aborted) {
      try {
        await this.#read()
      } catch {
        // The service was killed, or is not yet ready.
      }
      this.breaks++
      await sleep(20)
    }
  }

  async #read(): Promise<void> {
    const headers = { Accept: 'text/event-stream', 'Last-Event-ID': this.#cursor }
    const { status, body } = await fetch(this.#url, { headers, signal: this.#ended.signal })
    if (status !== 200 || body === null) {
      if (status !== 503) this.faults.push(`status ${status}`)
      return
    }
    const decoder = new TextDecoder()
    let text = ''
    for await (const chunk of body) {
      const frames = (text + decoder.decode(chunk, { stream: true })).split('\n\n')
      text = frames.pop() as string
      for (const frame of frames) this.#take(frame)
    }
  }

  #take(frame: string): void {
    const [, event] = /^event: (.*)$/m.exec(frame) ?? []
    if (event === 'reset') this.faults.push(frame)
    const [, cursor] = /^id: (.*)$/m.exec(frame) ?? []
    if (cursor === undefined) return
    this.#cursor = cursor
    if (event !== 'change') return
    const { resource, record_id, version, record } = JSON.parse(/^data: (.*)$/m.exec(frame)?.[1] as string)
    this.changes.push({ id: Number(cursor.split('-')[0]), record: `${resource} ${record_id}`, version })
    this.#onChange(record?.name)
  }
}
