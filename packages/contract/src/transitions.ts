import { factsOf } from '@resource/openapi/schema'
import type { z } from 'zod'
import { and, or } from './words.ts'

/** The values to which the values of a choice can change, by field and value. */
export type Transitions = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>

/** @throws Error for transitions of a field that is no choice, or from or to a value that it does not have */
export function checkTransitions(noun: string, fields: Record<string, z.ZodType>, transitions: Transitions): void {
  for (const [field, targets] of Object.entries(transitions)) {
    const { choices } = factsOf(fields[field] as z.ZodType)
    if (choices === undefined) throw new Error(`${noun}: ${field} can have no transitions: it must be a choice`)
    const unknown = Object.entries(targets)
      .flatMap(([from, to]) => [from, ...to])
      .find((value) => !choices.includes(value))
    if (unknown !== undefined)
      throw new Error(`${noun}: the transitions of ${field} name ${unknown}: it must be ${or(choices.map(String))}`)
  }
}

/** A sentence for each field. */
export function transitionRules(transitions: Transitions): string[] {
  const code = (value: string) => `\`${value}\``
  return Object.entries(transitions).map(([field, targets]) => {
    const ways = Object.entries(targets).map(([from, to]) => `from ${code(from)} to ${or(to.map(code))}`)
    return `${code(field)} changes only ${and(ways)}.`
  })
}

/** What is wrong with a change of a field from one value to another; undefined if nothing is. */
export function refusedTransition(
  transitions: Transitions,
  field: string,
  from: unknown,
  to: unknown,
): string | undefined {
  const targets = transitions[field]
  // A record without a value may get any.
  if (targets === undefined || from === to || typeof from !== 'string') return undefined
  const allowed = targets[from] ?? []
  if (allowed.includes(String(to))) return undefined
  return allowed.length === 0 ? `cannot change from ${from}` : `can change from ${from} only to ${or(allowed)}`
}
