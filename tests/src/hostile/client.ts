import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { HostileRequest } from './requests.ts'

// So that the service has what was sent before its sender leaves.
const HELD_MS = 50
const IDLE_MS = 200
const DROP_MS = 1_000
const ANSWER_WITHIN_MS = 10_000

export interface Outcome {
  /** Of the first final answer, where one was read. */
  status: number | undefined
  /** What the service did wrong. */
  fault: string | undefined
}

/** Sends a request as it is to be sent, from an address of its own, and leaves. */
export async function play(
  port: number,
  from: string,
  { bytes, drops, stage, leave }: HostileRequest,
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
    if (stage === 'answer not read') socket.once('reading', read)
    else read()
  })
  socket.on('error', (error: NodeJS.ErrnoException) => {
    // The service may cut whoever sends nonsense, or waits too long.
    if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') fault = error.message
  })
  await Promise.race([connected, closed])
  socket.write(bytes, 'latin1')
  if (stage === 'idle') {
    if (!(await within(ANSWER_WITHIN_MS, answered, closed))) fault = 'no answer'
    await sleep(IDLE_MS)
  } else await sleep(HELD_MS)
  for (const byte of drops) {
    await sleep(DROP_MS)
    if (socket.writable) socket.write(byte, 'latin1')
  }
  if (leave === 'RST') socket.resetAndDestroy()
  else if (leave === 'destroy') socket.destroy()
  else socket.end()
  if (leave === 'half-close') {
    socket.emit('reading')
    if (!(await within(ANSWER_WITHIN_MS, closed))) fault = 'the connection stays open after a half-close'
  }
  if (leave === 'FIN') await sleep(HELD_MS)
  socket.destroy()
  const status = Number(/(?:^|\r\n\r\n)HTTP\/1\.1 ([2-5]\d\d) /.exec(text)?.[1]) || undefined
  if (status !== undefined && status >= 500 && !(status === 503 && /\r\nRetry-After: /i.test(text))) {
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
