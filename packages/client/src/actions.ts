import type { CallOptions, ClientTo } from '@resource/openapi/client'
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
}

type Preview = Api['previews']['create']['output']

/** Adds the further methods to a client of the procedures. */
export function withActions<C extends ClientTo<Api>>(client: C): C & Actions {
  const actions: Actions = {
    preview: (operation, input, options) => client.previews.create.mutate({ operation, input: { ...input } }, options),
  }
  return Object.assign(client, actions)
}
