import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { HostileRequest } from './requests.ts'

// Lets the service receive the sent bytes before the client closes the connection.
const RECEIVE_MS = 50
const IDLE_MS = 200
const TRICKLE_INTERVAL_MS = 1_000
const ANSWER_WITHIN_MS = 10_000

export interface Outcome {
  /** Status of the first final response, if the client read one. */
  status: number | undefined
  /** Incorrect behavior of the service. */
  fault: string | undefined
}

/**
 * Runs one hostile request: sends it, then closes the connection in the specified way.
 *
 * @param from local address to connect from
 */
export async function runClient(
  port: number,
  from: string,
  { bytes, trickle, stage, close }: HostileRequest,
): Promise<Outcome> {
  const socket = connect({ port, host: '127.0.0.1', localAddress: from, allowHalfOpen: true })
  let text = ''
  let fault: string | undefined
  const closed = new Promise<void>((resolve) => {
    socket.on('close', () => resolve())
    socket.on('end', () => resolve())
  })
  const connected = new Promise<void>((resolve) => socket.on('connect', resolve))
  const answered = new Promise<void>((resolve) => {
    const read = () => {
      socket.on('data', (data) => {
        text += data.toString('latin1')
        resolve()
      })
    }
    if (stage === 'response not read') socket.once('reading', read)
    else read()
  })
  socket.on('error', (error: NodeJS.ErrnoException) => {
    // The service may reset connections of clients that send invalid data or are too slow.
    if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') fault = error.message
  })
  await Promise.race([connected, closed])
  socket.write(bytes, 'latin1')
  if (stage === 'idle') {
    if (!(await within(ANSWER_WITHIN_MS, answered, closed))) fault = 'no response'
    await sleep(IDLE_MS)
  } else await sleep(RECEIVE_MS)
  for (const byte of trickle) {
    await sleep(TRICKLE_INTERVAL_MS)
    if (socket.writable) socket.write(byte, 'latin1')
  }
  if (close === 'RST') socket.resetAndDestroy()
  else if (close === 'destroy') socket.destroy()
  else socket.end()
  if (close === 'half-close') {
    socket.emit('reading')
    if (!(await within(ANSWER_WITHIN_MS, closed))) fault = 'the connection stays open after a half-close'
  }
  if (close === 'FIN') await sleep(RECEIVE_MS)
  socket.destroy()
  const status = Number(/(?:^|\r\n\r\n)HTTP\/1\.1 ([2-5]\d\d) /.exec(text)?.[1]) || undefined
  // An unknown method is a 501, another version of HTTP a 505.
  const isRefusal = status === 501 || status === 505 || (status === 503 && /\r\nRetry-After: /i.test(text))
  if (status !== undefined && status >= 500 && !isRefusal) {
    fault = `answered ${text.slice(0, 1000)}`
  }
  return { status, fault }
}

async function within(ms: number, ...events: Promise<void>[]): Promise<boolean> {
  const late = new AbortController()
  const isLate = sleep(ms, true, { signal: late.signal }).catch(() => false)
  const outcome = await Promise.race([isLate, ...events.map((event) => event.then(() => false))])
  late.abort()
  return !outcome
}
