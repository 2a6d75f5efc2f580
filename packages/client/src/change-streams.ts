import {
  type ClientOptions,
  eventStream,
  type NounClient as NounClientOf,
  serviceError,
} from '@resource/openapi/client'
import type { Api } from './api.ts'
import type { ChangesOptions } from './changes.ts'

/** The changes from one connection after another. */
export async function* streamed(
  http: ClientOptions,
  { resources, recordId, after, signal, onPosition }: ChangesOptions,
) {
  let position = after
  const target = () => {
    const query = new URLSearchParams()
    for (const [name, value] of Object.entries({ after: position, resources, record_id: recordId })) {
      if (value !== undefined) query.set(name, `${value}`)
    }
    return `/api/changes?${query}`
  }
  for await (const { event, id, data } of eventStream(http, { target, name: 'changes.list', signal })) {
    if (event === 'reset') throw lost(JSON.parse(data).reason)
    position = id ?? position
    if (event === 'change') yield JSON.parse(data)
    else if (id !== undefined) onPosition?.(id)
  }
}

function lost(reason: string) {
  const message = 'The position no longer exists in the changes: read the lists again'
  const data = { code: 'BAD_REQUEST' as const, httpStatus: 410, fields: [], reason }
  return serviceError('gone', { status: 410, message, shape: { message, code: -32600, data } })
}

const WAIT_S = 25

/** The changes by repeated calls, for a client without HTTP. */
export async function* polled(
  changes: NounClientOf<Api, 'changes'>,
  { recordId, signal, after, onPosition, resources }: ChangesOptions,
) {
  for (let position = after; ; ) {
    const wait = position === undefined ? 0 : WAIT_S
    const input = { after: position, resources: resources && [...resources], record_id: recordId, wait }
    const page = await changes.list.query(input, { signal, timeoutMs: 60_000, attemptTimeoutMs: 60_000 })
    yield* page.changes
    position = page.cursor
    onPosition?.(position)
  }
}
