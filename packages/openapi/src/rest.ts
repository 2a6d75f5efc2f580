import type { ServerResponse } from 'node:http'
import type { Request, RequestHandler, Response } from 'express'
import findMyWay, { type HTTPVersion, type Instance } from 'find-my-way'
import { type Door, doors, ENVELOPE, PARAMETER } from './bindings.ts'
import type { Contract, EnvelopeForm, ErrorForm } from './contract.ts'
import { FieldError, list } from './field-error.ts'
import { type Awaitable, isPromise, observe } from './hook.ts'
import type { Operation } from './implement.ts'
import { Problem, toProblem } from './problem.ts'
import {
  callerPaths,
  checkAccept,
  checkTarget,
  fieldProblem,
  gatherInput,
  type Parameter,
  pathInput,
  queryParameters,
  readJson,
  split,
  valuesOf,
} from './request.ts'
import { type Answer, answer, makeReady, type Ready, write } from './response.ts'
import { abortProblem } from './signal.ts'

export interface RestOptions<Context> {
  envelope: EnvelopeForm
  /**
   * What it throws or rejects with, such as a Problem 401, is the answer. What is at hand is better given than promised:
   * that is faster.
   *
   * @param procedures `users.get`: what the request calls
   * @param route the path as the contract has it: `/users/{user_id}`
   */
  context: (req: Request, procedures: readonly string[], route: string) => Awaitable<Context>
  /** Text that identifies the request in the log; a 500 carries it. */
  requestId: (req: Request) => Awaitable<string>
  /** Headers that every answer carries. What it throws or rejects with is answered without them. */
  headers?: (req: Request) => Awaitable<Record<string, string>>
  /** Told of each error before it is answered. What it throws or rejects with becomes a warning of the process. */
  onError?: (problem: Problem, req: Request) => Awaitable<void>
}

export interface Rest {
  /** Answers each request whose path stands in the contract, and passes the others on: mount it first. */
  handle: RequestHandler
  /** Answers each request that nothing took, with a 404: mount it last. */
  refuse: RequestHandler
  /** Answers a request with an error, in the form of the door its path belongs to. */
  fail: (error: unknown, req: Request, res: Response) => Promise<void>
  /**
   * Makes the answers of an error that is the same for every request, so that giving one costs little: they do not say
   * what was asked for, and `onError` is not told. They can be given before Express has begun with a request.
   */
  ready: (problem: Problem) => (req: Request, res: ServerResponse) => Promise<void>
}

/** What stands at a path: a door for each method it takes. */
interface Place {
  doors: Map<string, { door: Door; operation: Operation<never>; procedures: readonly string[] }>
  allow: string
}

/** A place, and the path parameters as the router decoded them, in their order. */
interface Found {
  place: Place
  params: readonly string[]
}

type Router = Instance<HTTPVersion.V1>

/** The REST surface of a contract whose operations are implemented. Routes are compiled here, once. */
export function rest<Context>(
  contract: Contract,
  operations: Operation<Context>[],
  options: RestOptions<Context>,
): Rest {
  const { router, allow } = route(contract, operations)
  // Where the handler is mounted, for the requests that it passed on: those behind it may stand elsewhere.
  const bases = new WeakMap<Request, string>()
  const formOf = errorForms(contract, router, options.envelope.error)

  const handle: RequestHandler = (req, res, next) => {
    const { path, rawQuery } = split(req.originalUrl)
    const base = req.baseUrl
    const found = find(router, inside(path, base))
    if (found !== undefined) return respond(req, res, path, rawQuery, found)
    if (base !== '') bases.set(req, base)
    if (req.method !== 'OPTIONS' || req.originalUrl !== '*') return next()
    return send(req, res, { status: 204, headers: { Allow: allow } }).catch((error) => fail(error, req, res))
  }

  const respond = async (req: Request, res: Response, path: string, rawQuery: string, { place, params }: Found) => {
    try {
      checkTarget(req.originalUrl, path)
      if (req.method === 'OPTIONS') return await send(req, res, { status: 204, headers: { Allow: place.allow } })
      const method = req.method === 'HEAD' ? 'GET' : req.method
      const entry = place.doors.get(method)
      if (entry === undefined) {
        throw new Problem(405, `${req.method} is not allowed here, only ${place.allow}`, {
          headers: { Allow: place.allow },
        })
      }
      const { door } = entry
      const operation = entry.operation as Operation<Context>
      const made = options.context(req, entry.procedures, door.binding.path)
      const context = isPromise(made) ? await made : made
      const admitted = operation.admit(context)
      if (isPromise(admitted)) await admitted
      const body = door.body && (await readJson(req, door.binding))
      let query: readonly Parameter[]
      let envelope: EnvelopeForm | undefined
      let input: Record<string, unknown>
      try {
        checkAccept(req)
        query = queryParameters(rawQuery)
        envelope = wantsEnvelope(valuesOf(query, ENVELOPE)[0]) ? options.envelope : undefined
        input = gatherInput(door, params, query, req.headers, body)
      } catch (problem) {
        throw (await operation.findMissing(pathInput(door, params), context)) ?? problem
      }
      let output: unknown
      try {
        output = await operation.call(input, context, { shown: door.shown, parse: door.parse })
      } catch (error) {
        throw error instanceof FieldError ? error.movedTo(callerPaths(door, body)) : error
      }
      const ifNoneMatch = method === 'GET' ? req.headers['if-none-match'] : undefined
      await send(req, res, answer(door, { input, output, path, query }, envelope, ifNoneMatch, req.baseUrl))
    } catch (error) {
      await fail(error, req, res)
    }
  }

  const refuse: RequestHandler = async (req, res) => {
    try {
      checkTarget(req.originalUrl, split(req.originalUrl).path)
      throw new Problem(404, 'Path not found')
    } catch (problem) {
      await fail(problem, req, res)
    }
  }

  const send = async (req: Request, res: Response, answer: Answer): Promise<void> => {
    const ready = makeReady(answer)
    const headers = options.headers?.(req)
    write(res, ready, isPromise(headers) ? await headers : headers)
  }

  const fail = async (error: unknown, req: Request, res: Response): Promise<void> => {
    let problem = parserProblem(error) ?? abortProblem(error, req) ?? toProblem(error)
    let everywhere: Record<string, string> | undefined
    try {
      everywhere = await options.headers?.(req)
    } catch (thrown) {
      problem = toProblem(thrown)
    }
    await observe(() => options.onError?.(problem, req))
    if (res.headersSent) {
      res.destroy()
      return
    }
    // Another handler may have said them of a body that did not come.
    for (const name of ['Content-Encoding', 'ETag', 'Last-Modified']) res.removeHeader(name)
    const { status, fields } = problem
    const message = status === 500 ? `Internal server error${await idOf(req)}` : problem.message
    const faults = fields.map(({ field, message }) => `${field} ${message}`.trim())
    const details = list(faults, '; ') || `${req.method} ${shortened(split(req.originalUrl).path)}`
    const body = formFor(req.method, req.originalUrl, bases.get(req) ?? req.baseUrl).body({
      status,
      message,
      details,
      fields,
    })
    write(res, makeReady({ status, headers: problem.headers, body }), everywhere)
  }

  const idOf = async (req: Request): Promise<string> => {
    try {
      return ` (request ${await options.requestId(req)})`
    } catch {
      return ''
    }
  }

  const formFor = (method: string, url: string, base = ''): ErrorForm => {
    const { path, rawQuery } = split(url)
    return ENVELOPE_ASKED.test(rawQuery) ? options.envelope.error : formOf(method, inside(path, base))
  }

  const ready = ({ status, message, fields, headers }: Problem) => {
    const answers = new Map<ErrorForm, Ready>()
    return async (req: Request, res: ServerResponse) => {
      const form = formFor(req.method, req.url)
      let answer = answers.get(form)
      if (answer === undefined) {
        answer = makeReady({ status, headers, body: form.body({ status, message, details: '', fields }) })
        answers.set(form, answer)
      }
      let everywhere: Record<string, string> | undefined
      try {
        const headers = options.headers?.(req)
        everywhere = isPromise(headers) ? await headers : headers
      } catch {
        // The answer is the same for every request, with their headers or without.
      }
      write(res, answer, everywhere)
    }
  }

  return { handle, refuse, fail, ready }
}

function inside(path: string, base: string): string {
  return base !== '' && path.startsWith(base) ? path.slice(base.length) || '/' : path
}

const PARSER_MESSAGES: Record<number, string> = {
  400: 'Body is not valid JSON',
  413: 'Body is too large',
  415: 'A body must be sent as Content-Type: application/json, in UTF-8',
}

// What Express's parsers of bodies throw. Their own messages quote the body.
function parserProblem(error: unknown): Problem | undefined {
  const { status, type } = (error ?? {}) as { status?: number; type?: unknown }
  const message = typeof type === 'string' ? PARSER_MESSAGES[status as number] : undefined
  return message === undefined ? undefined : new Problem(status as 400, message, { cause: error })
}

const ENVELOPE_ASKED = /(?:^|&)envelope=true(?:&|$)/

function wantsEnvelope(value: string | undefined): boolean {
  if (value === undefined || value === 'false') return false
  if (value === 'true') return true
  throw fieldProblem(ENVELOPE, 'must be true or false')
}

function route<Context>(contract: Contract, operations: Operation<Context>[]) {
  const byName = new Map(operations.map((operation) => [operation.name, operation]))
  // By the path without the parameters' names: each method of a path has its own.
  const places = new Map<string, Place>()
  for (const door of doors(contract)) {
    const operation = byName.get(door.name)
    if (operation === undefined) throw new Error(`${door.name} has no implementation`)
    const { path, method, trailingSlash } = door.binding
    const bare = path.replace(/\/$/, '')
    const entry = { door, operation: operation as Operation<never>, procedures: [door.name] }
    for (const one of new Set(trailingSlash === 'significant' ? [path] : [bare || '/', `${bare}/`])) {
      const shape = one.replace(PARAMETER, '{}')
      const place = places.get(shape) ?? { doors: new Map(), allow: '' }
      const other = place.doors.get(method)?.door.name
      if (other !== undefined) throw new Error(`${other} and ${door.name} are both bound to ${method} ${path}`)
      place.doors.set(method, entry)
      places.set(shape, place)
    }
  }
  // Long ids are for the procedure to refuse, with a message, so the router takes them all.
  const router = findMyWay({ caseSensitive: true, maxParamLength: Number.MAX_SAFE_INTEGER })
  for (const [shape, place] of places) {
    place.allow = allowed([...place.doors.keys()])
    router.on('GET', pattern(shape), () => undefined, place)
  }
  return { router, allow: allowed([...places.values()].flatMap((place) => [...place.doors.keys()])) }
}

// The router reads a colon as the beginning of a parameter, and what follows a parameter as part of its name.
function pattern(shape: string): string {
  let parameters = 0
  return shape.replaceAll(':', '::').replace(/\{\}([^/]*)/g, (_, rest: string) => {
    const name = `:${parameters++}`
    return rest === '' ? name : `${name}([^]+?)${rest}`
  })
}

// What stands at a path. The router would let a parameter be empty, and takes `*` for the root.
function find(router: Router, path: string): Found | undefined {
  const found = path.startsWith('/') ? router.find('GET', path) : null
  if (found === null) return undefined
  const params = Object.values(found.params) as string[]
  return params.includes('') ? undefined : { place: found.store as Place, params }
}

function allowed(methods: string[]): string {
  return [...new Set(methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))), 'OPTIONS'].join(
    ', ',
  )
}

// A path belongs to the resource whose door stands there; where none does, to the first whose doors share its beginning.
function errorForms(contract: Contract, router: Router, otherwise: ErrorForm) {
  const forms = new Map<string, ErrorForm>()
  for (const { binding, resource } of doors(contract)) {
    const beginning = binding.path.replace(/\/[^/]*\{.*$|\/$/, '')
    if (!forms.has(beginning)) forms.set(beginning, resource.errorForm)
  }
  return (method: string, path: string): ErrorForm => {
    const place = find(router, path)?.place
    const entry = place && (place.doors.get(method === 'HEAD' ? 'GET' : method) ?? [...place.doors.values()][0])
    if (entry !== undefined) return entry.door.resource.errorForm
    const segments = path.split('/')
    for (let length = segments.length; length > 1; length--) {
      const form = forms.get(segments.slice(0, length).join('/'))
      if (form !== undefined) return form
    }
    return otherwise
  }
}

function shortened(path: string): string {
  return path.length > 200 ? `${path.slice(0, 200)}…` : path
}
