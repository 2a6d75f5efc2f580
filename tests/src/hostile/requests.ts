import { BODY, type Target } from './targets.ts'

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const

/** Header lines and bytes for each way to frame a body. */
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

/** How much of the request a client sends, and what it does before it closes the connection. */
const STAGES = ['partial headers', 'partial body', 'response not read', 'idle', 'one byte per second'] as const
type Stage = (typeof STAGES)[number]

/** How a client closes: FIN, RST, destroy with unread data, or half-close and wait for the service's FIN. */
const CLOSE_MODES = ['FIN', 'RST', 'destroy', 'half-close'] as const
type CloseMode = (typeof CLOSE_MODES)[number]

export interface HostileRequest {
  /** Identifies the request in failures. */
  name: string
  /** Sent in one write. */
  bytes: string
  /** Sent afterwards, one byte per second. */
  trickle: string
  stage: Stage
  close: CloseMode
}

/** Every combination of method, framing, stage and close mode for a target. */
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
        for (const close of CLOSE_MODES) {
          const name = [method, target.path, ...target.headers, framing, stage, close].join(', ')
          yield { name, ...cut(`${head.join('\r\n')}\r\n\r\n`, body, stage), stage, close }
        }
      }
    }
  }
}

function cut(head: string, body: string, stage: Stage): { bytes: string; trickle: string } {
  const whole = head + body
  if (stage === 'partial headers') return { bytes: head.slice(0, head.length / 2), trickle: '' }
  if (stage === 'partial body') return { bytes: head + body.slice(0, body.length / 2), trickle: '' }
  if (stage === 'one byte per second') return { bytes: whole.slice(0, -2), trickle: whole.slice(-2) }
  return { bytes: whole, trickle: '' }
}
