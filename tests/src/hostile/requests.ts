import { BODY, type Target } from './targets.ts'

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const

/** How a body is announced and framed. */
const FRAMINGS = {
  none: { lines: [], body: '' },
  length: { lines: [`Content-Length: ${BODY.length}`], body: BODY },
  chunked: {
    lines: ['Transfer-Encoding: chunked'],
    body: `${chunk(BODY.slice(0, 40))}${chunk(BODY.slice(40))}${chunk('')}`,
  },
  'bad chunk': {
    lines: ['Transfer-Encoding: chunked'],
    body: `${chunk(BODY.slice(0, 40))}zz\r\n${BODY.slice(40)}\r\n`,
  },
  expect: { lines: [`Content-Length: ${BODY.length}`, 'Expect: 100-continue'], body: BODY },
  'unknown expectation': { lines: [`Content-Length: ${BODY.length}`, 'Expect: a-miracle'], body: BODY },
  gzip: { lines: [`Content-Length: ${BODY.length}`, 'Content-Encoding: gzip'], body: BODY },
} as const

function chunk(text: string): string {
  return `${text.length.toString(16)}\r\n${text}\r\n`
}

/** How far a client goes, and how it goes on. */
const STAGES = ['head cut', 'body cut', 'answer not read', 'idle', 'a byte a second'] as const
type Stage = (typeof STAGES)[number]

/** How a client leaves: closes, resets, destroys with something unread, or closes its half and waits for the other. */
const LEAVES = ['FIN', 'RST', 'destroy', 'half-close'] as const
type Leave = (typeof LEAVES)[number]

export interface HostileRequest {
  /** Says which it is, for a failure. */
  name: string
  /** Sent at once. */
  bytes: string
  /** Sent a byte a second. */
  drops: string
  stage: Stage
  leave: Leave
}

/** Every method, framing, stage and way of leaving for a target. */
export function* requestsTo(target: Target, key: string): Generator<HostileRequest> {
  for (const method of METHODS) {
    for (const [framing, { lines, body }] of Object.entries(FRAMINGS)) {
      const head = [
        `${method} ${target.path} HTTP/1.1`,
        'Host: localhost',
        `Authorization: Bearer ${key}`,
        'Content-Type: application/json',
        ...target.headers,
        ...lines,
      ]
      for (const stage of STAGES) {
        for (const leave of LEAVES) {
          const name = [method, target.path, ...target.headers, framing, stage, leave].join(', ')
          yield { name, ...cut(`${head.join('\r\n')}\r\n\r\n`, body, stage), stage, leave }
        }
      }
    }
  }
}

function cut(head: string, body: string, stage: Stage): { bytes: string; drops: string } {
  const whole = head + body
  if (stage === 'head cut') return { bytes: head.slice(0, head.length / 2), drops: '' }
  if (stage === 'body cut') return { bytes: head + body.slice(0, body.length / 2), drops: '' }
  if (stage === 'a byte a second') return { bytes: whole.slice(0, -2), drops: whole.slice(-2) }
  return { bytes: whole, drops: '' }
}
