import { METHODS as KNOWN_METHODS } from 'node:http'

// The values that the fuzz test puts in place of valid ones, or adds to them.

/** The methods of Node.js, without CONNECT: its client treats the response to a CONNECT as a tunnel. */
export const METHODS = KNOWN_METHODS.filter((method) => method !== 'CONNECT')

/** The largest valid id that is chosen; the smallest is 1. */
export const LARGEST_DRAWN_ID = 150

/** Path segments in place of an id. */
export const IDS = [
  ...words('0 -1 1.5 abc 01 +1 1e3 0x1 2147483647 2147483648 99999999999999999999 * 1,2 . .. null NaN Infinity'),
  ...words('%31 %00 %F0%9F%98%80 %C3 % %zz %2F %2e%2e 1%20 %EF%BC%91 %u0031 __proto__ constructor undefined'),
  ...words("bulk status hasOwnProperty 1'--"),
  '9'.repeat(4000),
]

/** Suffixes of a path. */
export const ENDINGS = words('/ // /status %2F #x ;a=b .json')

/** Paths without a route, and targets in an unusual form. */
export const STRAY_TARGETS = [
  ...words('/api /api/ /api//users //users // /users/1/2 /api/users/1/status/ /api/users/1/status/2 /user * /; /? /??'),
  ...words('/USERS /Books/1 /items/1/2/3 /users/../books /./books /%75sers /api%2Fusers /% /%C3%28 /%00 /users/1%2F2'),
  ...words(
    '/__proto__ /constructor/prototype /favicon.ico /robots.txt /.env /users;x /books| /?envelope=true /assets/',
  ),
  ...words('/trpc /trpc/ /trpcx /trpc/../users /docs/index.html /openapi.yaml http://elsewhere.example/users http://x'),
  ...words('https://elsewhere.example http://[::1/users HTTP://x/books/1?page=1 ftp://x/a http://a@b:c@d/items/1'),
]

/** Paths that are not resources. */
export const PLAIN_PATHS = words('/ /docs /docs/ /redoc /openapi.json /healthz /readyz /Healthz /assets/0/x')

/** Values in a query string. */
export const QUERY_VALUES = [
  ...words("% %ff %00 1e3 +1 -0 %201 true null [] {} 1e400 0x10 1.5 %ED%A0%80 2147483648 __proto__ ';-- %F0%9F%98%80"),
  ...['', '9'.repeat(400), '0.'.padEnd(300, '1'), 'x'.repeat(5000)],
]

/** Whole parameters of a query string. */
export const QUERY_PARTS = [
  ...words('x=1 __proto__=1 constructor = =1 &&& % %ff=1 page[]=1 page%5B%5D=1 envelope ENVELOPE=true ? /../'),
  ...words('page=1&page=2 envelope=true&envelope=true a=1&a=1 sort=name_asc;id_desc password=12345678'),
]

/** Sort values of a cursor, as JSON. */
export const CURSOR_KEYS = [
  ...words(
    'null 0 1 -1 1.5 1e308 1e999 -1e999 5e-324 2147483647 1e15 8.64e15 -8.64e15 9e15 253402300800000 true [] {}',
  ),
  ...words('"" "a" "\\u0000" "\\ud800" "\u{1f600}" {"__proto__":1} "2026-01-01"'),
]

/** Ids of a cursor, as JSON. */
export const CURSOR_IDS = words('1 1 1 5 0 -1 1.5 2147483647 2147483648 null "1" 1e999')

/** Values of a field in a JSON body. */
export const JSON_VALUES: readonly unknown[] = [
  ...[null, true, false, 0, -1, 1.5, 1e21, 2 ** 31, 2 ** 53, -0, '', ' ', '1', 'null', 'true', [], {}, [[]], [null]],
  ...['\0', 'a\0b', '\ud800', 'x\udfff', '\u{1f600}'.repeat(201), 'x'.repeat(201), 'x'.repeat(70_000), '__proto__'],
  ...[{ a: 1 }, { toString: 1 }, { length: 5 }, [1, 2, 3], { __proto__: null, constructor: { prototype: 1 } }],
  ...['2023-02-30', '10000-01-01', '2024-1-1', 'a@b', '@', `${'a'.repeat(250)}@example.com`, '\ufeffx', 'e\u0301'],
]

/** Whole bodies. */
export const BODIES = ['', ' ', '\n\t', '\0', ...words('null undefined 0 " { } [] name=a&email=b <a/>')]

/** Procedure names between the commas of a tRPC path. */
export const PROCEDURE_NAMES = [
  ...words('users users. . __proto__ users.__proto__ users.list.x constructor.x % %2e a%00'),
  '',
]

export const CONTENT_TYPES = [
  ...[
    'application/json; charset=utf-8',
    'application/json; charset="utf-8"',
    'application/json ;x=y',
    'application/json;',
  ],
  ...['application/json; charset=latin1', 'application/json; charset=utf-16', 'multipart/form-data; boundary=x', ''],
  ...words('APPLICATION/JSON text/plain application/x-www-form-urlencoded json application/merge-patch+json ; / a/b'),
]

/**
 * Characters with different lengths in bytes, UTF-16 units, code points and graphemes, and characters with a special
 * meaning.
 */
export const CHARACTERS = ['\u{1f600}', ...words('a B 7 é ß İ \uffff \u202e % _ \' " \\ / ~ \u0301 漢'), ' ']

/** Headers by name, including those the service reads. An array is sent as several header lines. */
export const HEADERS: Record<string, readonly (string | string[])[]> = {
  Accept: [
    ...words('*/* text/html application/json;q=0 application/* ;;; application/problem+json'),
    ...['', 'application/json, application/problem+json'],
    'a'.repeat(2000),
    ['text/html', '*/*'],
  ],
  'If-Match': [
    ...words('* "1-User" W/"1-User" "9999999999-User" 1 " , "\xe9"'),
    '',
    '"1-Item", "2-Book"',
    ['*', '"1-User"'],
  ],
  'If-None-Match': [
    ...words('* "1-User" "1-UserDetail" "1-Book" W/"1-Item" " ,,,'),
    ...['', '"x"'.repeat(900), ['"1-User"', '"1-Item"']],
  ],
  'Idempotency-Key': [...words('k k1 k2 \xe9 __proto__'), '', 'a b', 'x'.repeat(255), 'x'.repeat(256), ['k1', 'k2']],
  Prefer: [...words('handling=strict handling="strict" handling=lenient ,;='), '', ['wait=1', 'handling=strict']],
  'X-Request-Id': [...words('abc-123 {"a":1} \xff'), '', 'a b', 'x'.repeat(65), ['a', 'b']],
  'Accept-Encoding': [...words('gzip identity;q=0 *;q=0 br'), ''],
  Host: [...words('elsewhere.example localhost [::1]:99 127.0.0.1:1 a@b [::1 1.2.3.4.5 a:99999'), ''],
  Expect: ['100-continue', 'something-else'],
  Connection: ['close', 'Upgrade', 'keep-alive, Foo'],
  Upgrade: ['websocket', 'h2c'],
  'trpc-accept': ['application/jsonl', 'x'],
  Range: ['bytes=0-1'],
  'If-Modified-Since': ['Fri, 01 Jan 2100 00:00:00 GMT'],
  'X-HTTP-Method-Override': ['DELETE'],
  Origin: ['https://elsewhere.example', 'null'],
  Cookie: ['a=b; __proto__=1'],
}

function words(text: string): string[] {
  return text.split(' ')
}
