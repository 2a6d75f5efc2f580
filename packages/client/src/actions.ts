import { type CallOptions, type ClientTo, requestIdOf } from '@resource/openapi/client'
import type { Api } from './api.ts'

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
   * Undoes everything that a request did, or fails with a `VersionMismatchError` that names what has changed since. Writes that
   * the client sent in one request are undone together.
   *
   * @param request the answer of a write, or the `X-Request-Id` of its response
   */
  undo: (request: object | string, options?: CallOptions) => Promise<Api['reversals']['create']['output']>
}

type Preview = Api['previews']['create']['output']

/** Adds the further methods to a client of the procedures. */
export function withActions<C extends ClientTo<Api>>(client: C): C & Actions {
  const actions: Actions = {
    preview: (operation, input, options) => client.previews.create.mutate({ operation, input: { ...input } }, options),
    undo: async (request, options) => {
      const request_id = typeof request === 'string' ? request : requestIdOf(request)
      if (request_id === undefined) throw new TypeError('undo: this is not the answer of a call of this client')
      return client.reversals.create.mutate({ request_id }, options)
    },
  }
  return Object.assign(client, actions)
}
