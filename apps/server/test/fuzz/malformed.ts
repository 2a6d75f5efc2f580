import type { Random } from './random.ts'

/** Bytes that are not an HTTP request, or a request that is truncated, contradictory or followed by garbage. */
export function malformedRequest(random: Random): Buffer {
  return Buffer.from(
    random.pick([requestLine, headerLines, framedBody, chunkedBody, pipelined, noise])(random),
    'latin1',
  )
}

function requestLine(random: Random): string {
  const line = random.pick([
    ...['', ' ', 'GET', 'GET /', 'GET / HTTP', 'GET / HTTP/9.9', 'GET / HTTP/1.2', 'get / HTTP/1.1', 'FOO / HTTP/1.1'],
    ...[
      'GET  / HTTP/1.1',
      'GET /a b HTTP/1.1',
      ' GET / HTTP/1.1',
      'GET / HTTP/1.1 ',
      'GET\t/\tHTTP/1.1',
      'GET users HTTP/1.1',
    ],
    ...[
      'CONNECT a.example:443 HTTP/1.1',
      'CONNECT / HTTP/1.1',
      'PRI * HTTP/2.0',
      'OPTIONS * HTTP/1.1',
      'GET * HTTP/1.1',
    ],
    ...[
      'GET /\0 HTTP/1.1',
      'GET /\xe9 HTTP/1.1',
      'GET /\x7f HTTP/1.1',
      'GET /users?\xff HTTP/1.1',
      'GET http:// HTTP/1.1',
    ],
    ...[
      'GET http://[::1/users HTTP/1.1',
      'GET http://a@b:c@d/ HTTP/1.1',
      'GET /users HTTP/1.0',
      'GET /users',
      'SSH-2.0-x',
    ],
    ...[
      `GET /${'a'.repeat(20_000)} HTTP/1.1`,
      `${'G'.repeat(20_000)} / HTTP/1.1`,
      `GET /?${'a&'.repeat(9000)} HTTP/1.1`,
    ],
  ])
  return `${line}\r\nHost: localhost\r\n\r\n`
}

function headerLines(random: Random): string {
  const lines = Array.from({ length: random.int(1, 3) }, () =>
    random.pick([
      ...['Host: b', 'Host:', 'Host: a b', 'Host: a/b', 'Host: [::1', 'Host: a:99999', 'Host: \xe9', 'Host: a, b'],
      ...[
        ': x',
        'A B: x',
        'A\0: x',
        'A: \0',
        'A: \x01',
        'nocolon',
        ' folded: x',
        'A:\r\n folded',
        'A: x\ny: z',
        'A: x\rB: y',
      ],
      ...[
        '\xe9: x',
        'A: \xff',
        '"A": x',
        'A : x',
        `A: ${'x'.repeat(17_000)}`,
        `${'A'.repeat(17_000)}: x`,
        'A: x\r\n'.repeat(2500),
      ],
      ...[
        'Content-Length: abc',
        'Content-Length: -1',
        'Content-Length: 1, 2',
        'Content-Length: +1',
        'Content-Length: 1e3',
      ],
      ...[
        'Content-Length: 99999999999999999999',
        'Content-Length: 0x1',
        'Content-Length:',
        'Content-Length: 5\r\nContent-Length: 6',
      ],
      ...[
        'Transfer-Encoding: gzip',
        'Transfer-Encoding: chunked, gzip',
        'Transfer-Encoding: xchunked',
        'Transfer-Encoding:',
      ],
      ...[
        'Transfer-Encoding: chunked\r\nContent-Length: 3',
        'Connection: Upgrade\r\nUpgrade: h2c',
        'Expect: nothing',
        'TE: trailers',
      ],
    ]),
  )
  const host = random.oneIn(4) ? '' : 'Host: localhost\r\n'
  const end = random.pick(['\r\n\r\n', '\r\n\r\n', '\n\n', '\r\r', '\r\n', ''])
  return `${random.pick(['GET /users/1', 'POST /books', 'DELETE /items/1', 'GET /docs'])} HTTP/1.1\r\n${host}${lines.join('\r\n')}${end}`
}

const JSON_POST = 'POST /items/ HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n'
const BODY = '{"name":"Lamp","price":24.5}'

function framedBody(random: Random): string {
  const length = random.pick([
    0,
    1,
    BODY.length - 1,
    BODY.length,
    BODY.length + 1,
    500,
    1024 * 1024,
    1024 * 1024 + 1,
    1e12,
  ])
  const expect = random.oneIn(3) ? 'Expect: 100-continue\r\n' : ''
  return `${JSON_POST}${expect}Content-Length: ${length}\r\n\r\n${random.oneIn(4) ? '' : BODY}`
}

function chunkedBody(random: Random): string {
  const size = BODY.length.toString(16)
  const chunks = random.pick([
    ...[
      `${size}\r\n${BODY}\r\n0\r\n\r\n`,
      `${size}\r\n${BODY}\r\n0\r\n`,
      `${size}\r\n${BODY}`,
      `${size}\r\n`,
      size,
      '',
      '0',
      '0\r\n\r\n',
    ],
    ...[
      `${size}\n${BODY}\n0\n\n`,
      `zz\r\n${BODY}\r\n0\r\n\r\n`,
      `-1\r\n${BODY}`,
      `ffffffffffffffff\r\n${BODY}`,
      `0x5\r\n${BODY}`,
    ],
    ...[
      `1\r\n${BODY}\r\n0\r\n\r\n`,
      `${size};a=b\r\n${BODY}\r\n0\r\n\r\n`,
      `${size};\0\r\n${BODY}\r\n0\r\n\r\n`,
      `\r\n${size}\r\n${BODY}`,
    ],
    ...[
      `${size};${'x'.repeat(20_000)}\r\n${BODY}`,
      `${size}\r\n${BODY}\r\n0\r\nA: b\r\n\r\n`,
      `${size}\r\n${BODY}\r\n0\r\n: \0\r\n\r\n`,
    ],
    ...[`${size}\r\n${BODY}\r\n0\r\n${'A: b\r\n'.repeat(5000)}\r\n`, `${'1\r\n{\r\n'.repeat(3000)}0\r\n\r\n`],
  ])
  return `${JSON_POST}Transfer-Encoding: chunked\r\n\r\n${chunks}`
}

function pipelined(random: Random): string {
  const valid = [
    'GET /books HTTP/1.1\r\nHost: localhost\r\n\r\n',
    `${JSON_POST}Content-Length: ${BODY.length}\r\n\r\n${BODY}`,
  ]
  const first = Array.from({ length: random.int(1, 4) }, () => random.pick(valid)).join('')
  const last = random.pick([requestLine, headerLines, framedBody, chunkedBody, noise])(random)
  // For a pipelined request, Node.js writes the 100 after the head of the response to that request.
  return first + last.replace('Expect: 100-continue\r\n', '')
}

function noise(random: Random): string {
  const start = random.pick([
    '',
    '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
    'GET ',
    '\r\n',
    'HTTP/1.1 200 OK\r\n',
    '{"name":1}',
  ])
  return start + String.fromCharCode(...Array.from({ length: random.int(0, 600) }, () => random.int(0, 255)))
}
