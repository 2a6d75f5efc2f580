import { connect } from 'node:net'

export interface RawAnswer {
  status: number
  headers: Record<string, string>
  body: Buffer
}

/**
 * Sends bytes over a new connection and half-closes it, or (`abruptly`) resets it.
 *
 * @returns all bytes received until the connection is closed
 * @throws Error if the server does not close it within ten seconds
 */
export async function exchangeBytes(url: string, bytes: Buffer, abruptly = false): Promise<Buffer> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname)
    const received: Buffer[] = []
    socket.setTimeout(10_000, () => socket.destroy(new Error('the server did not close the connection')))
    socket.on('data', (chunk: Buffer) => received.push(chunk))
    socket.on('close', () => resolve(Buffer.concat(received)))
    socket.on('error', (error: NodeJS.ErrnoException) => {
      // The server need not read the rest of a refused request. The kernel then reports one of these codes.
      if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') reject(error)
    })
    if (abruptly) socket.write(bytes, () => socket.resetAndDestroy())
    else socket.end(bytes)
  })
}

/**
 * Parses the responses of a server, one after the other, without interim responses (100).
 *
 * @throws Error if the bytes are not well-formed HTTP/1.1 to the end
 */
export function parseAnswers(bytes: Buffer): RawAnswer[] {
  const answers: RawAnswer[] = []
  for (let rest = bytes; rest.length > 0; ) {
    const end = rest.indexOf('\r\n\r\n')
    if (end < 0) throw new Error(`headers without an end: ${quote(rest)}`)
    const [statusLine = '', ...lines] = rest.subarray(0, end).toString('latin1').split('\r\n')
    const status = Number(/^HTTP\/1\.1 ([1-5]\d\d) [\x20-\x7e]*$/.exec(statusLine)?.[1])
    if (Number.isNaN(status)) throw new Error(`invalid status line: ${quote(rest)}`)
    const headers = Object.fromEntries(lines.map(headerOf))
    rest = rest.subarray(end + 4)
    if (status < 200) continue
    const length = status === 204 || status === 304 ? 0 : Number(headers['content-length'])
    if (!Number.isInteger(length) || length > rest.length) throw new Error(`incomplete body: ${status} ${quote(rest)}`)
    answers.push({ status, headers, body: rest.subarray(0, length) })
    rest = rest.subarray(length)
  }
  return answers
}

function headerOf(line: string): [string, string] {
  const match = /^([!#$%&'*+.^_`|~\w-]+):[ \t]*(.*)$/.exec(line)
  if (match === null) throw new Error(`invalid header: ${line}`)
  return [(match[1] as string).toLowerCase(), match[2] as string]
}

function quote(bytes: Buffer): string {
  return JSON.stringify(bytes.subarray(0, 300).toString('latin1'))
}
