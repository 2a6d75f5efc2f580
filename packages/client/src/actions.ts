import {
  type CallOptions,
  type ClientOptions,
  type ClientTo,
  randomKey,
  requestIdOf,
  uuidOf,
} from '@resource/openapi/client'
import type { Api } from './api.ts'
import type { Changes, ChangesOptions } from './changes.ts'

/** The name of a procedure that writes: `items.update`. */
export type WriteName = {
  [N in keyof Api & string]: {
    [V in keyof Api[N] & string]: Api[N][V] extends { type: 'mutation' } ? `${N}.${V}` : never
  }[keyof Api[N] & string]
}[keyof Api & string]

/** The input of a write by its name. */
export type WriteInput<P extends WriteName> = P extends `${infer N extends keyof Api & string}.${infer V}`
  ? V extends keyof Api[N]
    ? Api[N][V] extends { input: infer I }
      ? I
      : never
    : never
  : never

/** What a client can do beyond calling procedures. */
export interface Actions {
  /** What a write would do, without doing it. With its `effect` as the option `ifEffect`, the write does exactly that. */
  preview: <P extends WriteName>(operation: P, input: WriteInput<P>, options?: CallOptions) => Promise<Preview>
  /**
   * Carries out exactly what a preview of a write showed, as one group of requests: one by one if the preview has steps. Fails
   * with a `VersionMismatchError` at the first step that would no longer do what the preview showed; those before it are done.
   */
  apply: <P extends WriteName>(operation: P, input: WriteInput<P>, options?: ApplyOptions) => Promise<Applied>
  undo: Undo
  changes: Changes
}

/** The options of {@link Actions.apply}. */
export interface ApplyOptions extends GroupOptions {
  /** Default: a new one. */
  preview?: Preview | undefined
  /** A UUID. With the group and the preview of a call that failed, the call continues. Default: a new one. */
  group?: string | undefined
}

/** What {@link Actions.apply} has done. `client.undo` undoes it. */
export type Applied = Grouped & Pick<Preview, 'created' | 'updated' | 'deleted'>

/** Undoes requests. */
export interface Undo {
  /**
   * Undoes the requests of a group one by one, newest first. Fails with a `VersionMismatchError` that names what has changed
   * since; the requests until then are undone. Called again, it continues.
   */
  (of: Grouped, options?: GroupOptions): Promise<UndoneGroup>
  /**
   * Undoes everything that a request did, or fails with a `VersionMismatchError` that names what has changed since. Writes that
   * the client sent in one request are undone together.
   *
   * @param request the answer of a write, or the `X-Request-Id` of its response
   */
  (request: object | string, options?: CallOptions): Promise<Reversal>
}

/** Requests that carry the same `X-Request-Group`. */
export interface Grouped {
  group: string
}

/** The options of the calls of a group. */
export interface GroupOptions extends Omit<CallOptions, 'idempotencyKey' | 'ifEffect' | 'group'> {
  /** Called before the first request and after each: the number of changed records, and of all; of requests in an undo. */
  onProgress?: ((done: number, total: number) => void) | undefined
}

/** What the undo of a group has done. Its own `group` undoes it. */
export type UndoneGroup = Grouped & Omit<Reversal, 'request_id'> & { requests: number }

type Preview = Api['previews']['create']['output']
type Reversal = Api['reversals']['create']['output']

/**
 * Adds the further methods to a client of the procedures.
 *
 * @param http the options of a client that sends HTTP requests
 */
export function withActions<C extends ClientTo<Api>>(client: C, http?: ClientOptions): C & Actions {
  const actions: Actions = {
    preview: (operation, input, options) => client.previews.create.mutate({ operation, input: { ...input } }, options),
    apply: async (operation, input, { preview, group = uuidOf(randomKey()), onProgress, ...own } = {}) => {
      const options = { ...PATIENT, ...own }
      const { effect, created, updated, deleted, steps } = preview ?? (await actions.preview(operation, input, options))
      const total = created + updated + deleted
      const [noun, verb] = operation.split('.') as ['items', 'updateWhere']
      const { idempotency_key: key = group, ...fields } = input as Parameters<typeof client.items.updateWhere.mutate>[0]
      let done = 0
      onProgress?.(done, total)
      for (const [n, { count, effect: ifEffect, ...range }] of (steps ?? [{ count: total, effect }]).entries()) {
        const idempotencyKey = `${key}-${n}`
        await client[noun][verb].mutate({ ...fields, ...range }, { ...options, group, ifEffect, idempotencyKey })
        done += count
        onProgress?.(done, total)
      }
      return { group, created, updated, deleted }
    },
    undo: (async (request: object | string, options?: CallOptions) => {
      const request_id = typeof request === 'string' ? request : requestIdOf(request)
      if (request_id !== undefined) return client.reversals.create.mutate({ request_id }, options)
      if (isGrouped(request)) return undoGroup(client, request, options)
      throw new TypeError('undo: this is not the answer of a call of this client')
    }) as Undo,
    changes: changesOf(client, http),
  }
  return Object.assign(client, actions)
}

// A preview and a write of 100,000 records, and the longest wait for a quota.
const PATIENT = { timeoutMs: 180_000, attemptTimeoutMs: 60_000 }

function isGrouped(value: object | string | null): value is Grouped {
  return typeof value === 'object' && value !== null && 'group' in value && typeof value.group === 'string'
}

async function undoGroup(
  { reversals }: ClientTo<Api>,
  { group }: Grouped,
  { onProgress, ...own }: GroupOptions = {},
): Promise<UndoneGroup> {
  const options = { ...PATIENT, ...own }
  let open = await reversals.open.query({ group }, options)
  const { total } = open
  const undone: UndoneGroup = { group: open.group, requests: 0, restored: 0, updated: 0, deleted: 0 }
  const inGroup = { ...options, group: undone.group }
  onProgress?.(0, total)
  while (open.requests.length > 0 && undone.requests < total) {
    for (const { request_id } of open.requests) {
      const { restored, updated, deleted } = await reversals.create.mutate({ request_id }, inGroup)
      undone.requests++
      undone.restored += restored
      undone.updated += updated
      undone.deleted += deleted
      onProgress?.(undone.requests, total)
    }
    if (undone.requests < total) open = await reversals.open.query({ group }, options)
  }
  return undone
}

function changesOf({ changes }: ClientTo<Api>, http: ClientOptions | undefined): Changes {
  async function* follow(options: ChangesOptions = {}) {
    // Loaded at its first use, because most pages never follow changes.
    const { polled, streamed } = await import('./change-streams.ts')
    yield* http === undefined ? polled(changes, options) : streamed(http, options)
  }
  return new Proxy(follow, { get: (_, name) => Reflect.get(changes, name) }) as Changes
}
