import { z } from 'zod'
import type { Awaitable } from './hook.ts'

/**
 * Compiles a schema to a parser function, about ten times as fast. Values that the function does not accept go to zod's
 * own parser, so the results are the same. Compiled on first use: a process uses few of a contract's schemas, and
 * compiling all of them would delay its start.
 */
export function compiled<S extends z.ZodType>(schema: S): () => S {
  let made: S | undefined
  return () => {
    made ??= compilations.get(schema) as S | undefined
    if (made === undefined) {
      handleRejections(schema)
      made = z.compile(schema)
      compilations.set(schema, made)
    }
    return made
  }
}

// Procedures share schemas, and so do several services of one process.
const compilations = new WeakMap<z.ZodType, z.ZodType>()

/** Parses a value: synchronously, unless the schema has an asynchronous check or transform. */
export type Parser<T = unknown> = (value: unknown) => Awaitable<z.ZodSafeParseResult<T>>

/** The parser of a schema, compiled as by {@link compiled}. */
export function parserOf<S extends z.ZodType>(schema: S): Parser<z.output<S>> {
  const fast = compiled(schema)
  let isAsync = false
  return (value) => {
    if (!isAsync) {
      try {
        return fast().safeParse(value)
      } catch (error) {
        if (!(error instanceof z.core.$ZodAsyncError)) throw error
        // zod detects an asynchronous schema only when a check returns a promise.
        isAsync = true
      }
    }
    return schema.safeParseAsync(value)
  }
}

/** Whether a field is optional. */
export function isOptional(schema: z.ZodType): boolean {
  return accepts(schema, undefined) ?? false
}

/** Whether a schema accepts a value; undefined if the schema is asynchronous. */
export function accepts(schema: z.ZodType, value: unknown): boolean | undefined {
  handleRejections(schema)
  try {
    return schema.safeParse(value).success
  } catch (error) {
    if (error instanceof z.core.$ZodAsyncError) return undefined
    throw error
  }
}

const handled = new WeakSet<object>()

/**
 * Handles the rejections of a schema's checks and transforms. A synchronous parse drops the promise of an asynchronous
 * check, and an unhandled rejection would end the process.
 */
function handleRejections(node: unknown): void {
  if (typeof node !== 'object' || node === null || handled.has(node)) return
  handled.add(node)
  const { _zod: inner } = node as { _zod?: { def: Record<string, unknown>; check?: unknown } }
  if (inner === undefined) {
    for (const child of Object.values(node)) handleRejections(child)
    return
  }
  const { def } = inner
  for (const slot of ['fn', 'transform']) if (slot in def) def[slot] = withHandler(def[slot])
  if (def.check === 'custom' && !('fn' in def)) inner.check = withHandler(inner.check)
  handleRejections(typeof def.getter === 'function' ? def.getter() : def)
}

function withHandler(run: unknown): unknown {
  if (typeof run !== 'function') return run
  return (...args: unknown[]) => {
    const result: unknown = run(...args)
    if (result instanceof Promise) result.catch(() => undefined)
    return result
  }
}
