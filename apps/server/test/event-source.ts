import { setTimeout as sleep } from 'node:timers/promises'

export interface ServerEvent {
  event: string
  id: string
  // biome-ignore lint/suspicious/noExplicitAny: tests read any data
  data: any
}

/** An open stream of server-sent events; `await using` closes it. */
export async function openEvents(url: string, headers: Record<string, string> = {}) {
  const abort = new AbortController()
  const answer = await fetch(url, { headers: { Accept: 'text/event-stream', ...headers }, signal: abort.signal })
  const events = parsed(answer.body as ReadableStream<Uint8Array>)
  const next = async (): Promise<ServerEvent | undefined> => (await events.next()).value
  return {
    status: answer.status,
    headers: answer.headers,
    // biome-ignore lint/suspicious/noExplicitAny: tests read any response
    json: async () => (await answer.json()) as any,
    /** The next event; undefined at the end of the stream. */
    next,
    /** The changes up to the given number of them. */
    changes: async (count: number) => {
      const found: ServerEvent['data'][] = []
      while (found.length < count) {
        const event = await next()
        if (event === undefined) throw new Error(`The stream ended after ${found.length} changes`)
        if (event.event === 'change') found.push(event.data)
      }
      return found
    },
    /** Resolves with the time in ms until the stream ended, however it did. */
    ended: async () => {
      const startMs = performance.now()
      try {
        while ((await next()) !== undefined);
      } catch {
        // The connection was closed.
      }
      return performance.now() - startMs
    },
    [Symbol.asyncDispose]: async () => {
      abort.abort()
      await sleep(0)
    },
  }
}

async function* parsed(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent, undefined> {
  let text = ''
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    const frames = (text + chunk).split('\n\n')
    text = frames.pop() as string
    for (const frame of frames) {
      const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(frame)?.[1]
      const [event, id = '', data = 'null'] = ['event', 'id', 'data'].map(field)
      if (event !== undefined) yield { event, id, data: JSON.parse(data) }
    }
  }
  return undefined
}
