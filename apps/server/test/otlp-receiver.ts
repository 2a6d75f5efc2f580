import { startStubServer } from './stub-server.ts'

/** A received span. */
export interface ReceivedSpan {
  traceId: string
  id: string
  parentId: string
  name: string
  kind: 'internal' | 'server' | 'client'
  attributes: Record<string, string | number>
  isError: boolean
  /** The ids of the linked traces. */
  links: string[]
  resource: Record<string, string | number>
}

/** An OpenTelemetry collector that accepts traces as OTLP over HTTP in protobuf; `await using` stops it. */
export async function startReceiver() {
  const bodies: Buffer[] = []
  const headers: string[] = []
  const server = await startStubServer((req, res) => {
    const chunks: Buffer[] = []
    req.on('data', (chunk) => chunks.push(chunk))
    req.on('end', () => {
      headers.push(`${req.method} ${req.url} ${req.headers['content-type']}`)
      bodies.push(Buffer.concat(chunks))
      res.setHeader('Content-Type', 'application/x-protobuf').end()
    })
  })
  return {
    ...server,
    /** Method, path and content type of each request, for example `POST /v1/traces application/x-protobuf`. */
    headers,
    /** All received bytes. */
    raw: () => Buffer.concat(bodies).toString('latin1'),
    spans: () => bodies.flatMap(spansOf),
  }
}

/** A collector that accepts every request and never responds. */
export function startSilentReceiver() {
  return startStubServer(() => {})
}

// Field numbers of opentelemetry-proto: trace/v1/trace.proto, common/v1/common.proto, resource/v1/resource.proto.
function spansOf(request: Buffer): ReceivedSpan[] {
  return messages(request, 1).flatMap((resourceSpans) => {
    const resource = messages(resourceSpans, 1).map((resource) => attributesOf(resource, 1))[0] ?? {}
    return messages(resourceSpans, 2).flatMap((scopeSpans) =>
      messages(scopeSpans, 2).map((span) => ({
        traceId: hex(span, 1),
        id: hex(span, 2),
        parentId: hex(span, 4),
        name: text(span, 5),
        kind: (['', 'internal', 'server', 'client'] as const)[number(span, 6)] as ReceivedSpan['kind'],
        attributes: attributesOf(span, 9),
        links: messages(span, 13).map((link) => hex(link, 1)),
        isError: messages(span, 15).some((status) => number(status, 3) === 2),
        resource,
      })),
    )
  })
}

function attributesOf(message: Buffer, field: number): Record<string, string | number> {
  return Object.fromEntries(
    messages(message, field).map((pair) => {
      const [value = Buffer.alloc(0)] = messages(pair, 2)
      return [text(pair, 1), messages(value, 1).length > 0 ? text(value, 1) : number(value, 3)]
    }),
  )
}

const messages = (message: Buffer, field: number) => fields(message, field) as Buffer[]
const text = (message: Buffer, field: number) => String(fields(message, field)[0] ?? '')
const hex = (message: Buffer, field: number) => (messages(message, field)[0] ?? Buffer.alloc(0)).toString('hex')
const number = (message: Buffer, field: number) => Number(fields(message, field)[0] ?? 0)

/** The values of a field in the protobuf wire format: numbers as bigint, length-delimited values as bytes. */
function fields(message: Buffer, wanted: number): (bigint | Buffer)[] {
  const found: (bigint | Buffer)[] = []
  let at = 0
  const varint = () => {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = message[at++] as number
      value |= BigInt(byte & 127) << shift
      if (byte < 128) return value
    }
  }
  const bytes = (length: number) => {
    at += length
    return message.subarray(at - length, at)
  }
  while (at < message.length) {
    const tag = Number(varint())
    const value = [varint, () => bytes(8), () => bytes(Number(varint())), null, null, () => bytes(4)][tag & 7]?.()
    if (value === undefined) throw new Error(`No wire type of protobuf: ${tag & 7}`)
    if (tag >> 3 === wanted) found.push(value)
  }
  return found
}
