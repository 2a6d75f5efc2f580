// The limit: node:http with prepared statements, hand-written validation and JSON, and no framework.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { checkBook, checkItem, checkUsers, type Query, readId, readQuery } from './limit/checks.ts'
import { postgresqlDatabase } from './limit/postgresql.ts'
import { type Database, sqliteDatabase, type User } from './limit/sqlite.ts'
import { engine, port } from './settings.ts'

const database: Database = engine === 'sqlite' ? sqliteDatabase() : postgresqlDatabase()
const text = JSON.stringify

createServer((req, res) => {
  answer(req, res).catch((error: unknown) => {
    process.stderr.write(`${error}\n`)
    if (!res.headersSent) send(res, 500, '{"error":"Internal server error"}')
  })
}).listen(port, '127.0.0.1')

async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
  const url = req.url as string
  const queryStart = url.indexOf('?')
  const path = queryStart === -1 ? url : url.slice(0, queryStart)
  const query = queryStart === -1 ? '' : url.slice(queryStart + 1)
  if (req.method === 'GET') {
    if (path === '/api/users') return listUsers(res, query)
    if (path.startsWith('/api/users/')) return getUser(res, path.slice('/api/users/'.length))
    if (path.startsWith('/trpc/')) return callProcedures(res, path.slice('/trpc/'.length), new URLSearchParams(query))
  }
  if (req.method === 'POST' && path === '/books') return createBook(req, res)
  if (req.method === 'POST' && path === '/api/users/bulk') return createUsers(req, res)
  if (req.method === 'PATCH' && path.startsWith('/items/')) return updateItem(req, res, path.slice('/items/'.length))
  send(res, 404, '{"error":"Not found"}')
}

async function getUser(res: ServerResponse, idText: string) {
  const id = readId(idText)
  if (id === undefined) return send(res, 400, '{"error":"Invalid id"}')
  const user = await database.findUser(id)
  if (user === undefined) return send(res, 404, '{"error":"User not found"}')
  send(res, 200, detail(user))
}

async function listUsers(res: ServerResponse, queryText: string) {
  const query: Query | undefined = readQuery(queryText)
  if (query === undefined) return send(res, 400, '{"error":"Invalid query"}')
  const users = await database.listUsers(query)
  let json = ''
  for (const { id, name, email, role } of users) {
    json += `${json === '' ? '[' : ','}{"id":${id},"name":${text(name)},"email":${text(email)},"role":"${role}"}`
  }
  send(res, 200, json === '' ? '[]' : `${json}]`)
}

async function createBook(req: IncomingMessage, res: ServerResponse) {
  const book = checkBook(await readJson(req))
  if (book === undefined) return send(res, 400, '{"message":"Invalid book"}')
  const id = await database.insertBook(book)
  const { title, author, published_date } = book
  send(res, 201, `{"id":${id},"title":${text(title)},"author":${text(author)},"published_date":"${published_date}"}`)
}

async function updateItem(req: IncomingMessage, res: ServerResponse, idText: string) {
  const id = readId(idText)
  const changes = checkItem(await readJson(req))
  if (id === undefined || changes === undefined) return send(res, 400, '{"message":"Invalid item"}')
  const item = await database.updateItem(id, changes)
  if (item === undefined) return send(res, 404, '{"message":"Item not found"}')
  const { name, price, category } = item
  send(res, 200, `{"id":${id},"name":${text(name)},"price":${price},"category":${text(category)}}`)
}

async function createUsers(req: IncomingMessage, res: ServerResponse) {
  const users = checkUsers(await readJson(req))
  if (users === undefined) return send(res, 400, '{"error":"Invalid users"}')
  const now = Date.now()
  const ids = await database.insertUsers(users, now)
  if (ids === undefined) return send(res, 409, '{"error":"An e-mail address is in use"}')
  const created_at = new Date(now).toISOString()
  let json = ''
  for (const [index, { name, email, role }] of users.entries()) {
    const id = ids[index]
    json += `${json === '' ? '[' : ','}{"id":${id},"name":${text(name)},"email":${text(email)},"role":"${role}","created_at":"${created_at}"}`
  }
  send(res, 201, `${json}]`)
}

/** tRPC over HTTP: a single `users.get`, or a batch as sent by tRPC's own client. */
async function callProcedures(res: ServerResponse, path: string, query: URLSearchParams) {
  const input = parse(query.get('input') ?? '{}')
  if (query.get('batch') !== '1') {
    const [status, json] = await callProcedure(path, input)
    return send(res, status, json)
  }
  const calls = path.split(',').map((name, index) => callProcedure(name, (input as Record<number, unknown>)?.[index]))
  const answers = await Promise.all(calls)
  const status = answers.every(([status]) => status === 200) ? 200 : 207
  send(res, status, `[${answers.map(([, json]) => json).join(',')}]`)
}

async function callProcedure(name: string, input: unknown): Promise<[number, string]> {
  if (name !== 'users.get') return trpcError(404, -32004, 'NOT_FOUND', name)
  const id = (input as { id?: unknown } | null)?.id
  if (typeof id !== 'number' || readId(String(id)) === undefined) return trpcError(400, -32600, 'BAD_REQUEST', name)
  const user = await database.findUser(id)
  if (user === undefined) return trpcError(404, -32004, 'NOT_FOUND', name)
  return [200, `{"result":{"data":${fullUser(user)}}}`]
}

function trpcError(status: number, code: number, name: string, path: string): [number, string] {
  return [status, text({ error: { message: name, code, data: { code: name, httpStatus: status, path } } })]
}

function detail({ id, name, email, role, created_at }: User) {
  return `{"id":${id},"name":${text(name)},"email":${text(email)},"role":"${role}","created_at":"${new Date(created_at).toISOString()}"}`
}

function fullUser({ id, name, email, role, status, age, created_at, updated_at, version }: User) {
  const created = new Date(created_at).toISOString()
  const updated = new Date(updated_at).toISOString()
  return `{"id":${id},"name":${text(name)},"email":${text(email)},"role":"${role}","status":"${status}","age":${age},"created_at":"${created}","updated_at":"${updated}","version":${version}}`
}

function readJson(req: IncomingMessage): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    req.on('data', (chunk: Buffer) => chunks.push(chunk))
    req.on('end', () => resolve(parse(Buffer.concat(chunks).toString())))
    req.on('error', reject)
  })
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

function send(res: ServerResponse, status: number, json: string): void {
  res.writeHead(status, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(json),
  })
  res.end(json)
}
