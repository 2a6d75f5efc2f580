import { contract } from '@resource/contract'
import { brokenText, bulkOf, type Fields, fieldsOf, mutated } from './bodies.ts'
import { queryValue } from './queries.ts'
import type { Random } from './random.ts'
import { JSON_VALUES, LARGEST_DRAWN_ID, METHODS, PROCEDURE_NAMES } from './values.ts'

interface TrpcRequest {
  method: string
  target: string
  body: Buffer | undefined
}

const PROCEDURES = Object.entries(contract).flatMap(([noun, { procedures }]) =>
  Object.keys(procedures).map((verb) => `${noun}.${verb}`),
)
const KEYS = ['k', 'k1', 'k2', '', 'a b', 1, 'é', 'x'.repeat(256)]
const QUERIES = /\.(list|get)$/

/** One or several tRPC calls in a request, with valid and invalid input. */
export function trpcRequest(random: Random): TrpcRequest {
  const calls = Array.from({ length: random.oneIn(4) ? random.int(2, 6) : 1 }, () =>
    random.oneIn(8) ? random.pick(PROCEDURE_NAMES) : random.pick(PROCEDURES),
  )
  const batch = calls.length > 1 ? !random.oneIn(5) : random.oneIn(6)
  const inputs = calls.map((call) => trpcInput(random, call))
  const whole: unknown = batch ? Object.fromEntries(inputs.entries()) : inputs[0]
  const asQuery = QUERIES.test(calls[0] as string) !== random.oneIn(10)
  const method = random.oneIn(12) ? random.pick(METHODS) : asQuery ? 'GET' : 'POST'
  const text = JSON.stringify(whole) ?? ''
  const input = random.oneIn(10)
    ? random.pick(['', '%', '{', 'null', '[', '%00', '%ff'])
    : encodeURIComponent(text.toWellFormed())
  const parts = [
    ...(batch ? [`batch=${random.oneIn(10) ? random.pick(['0', 'true', '']) : 1}`] : []),
    ...(asQuery && !random.oneIn(8) ? [`input=${input}`] : []),
    ...(random.oneIn(15)
      ? [random.pick(['connectionParams=1', 'connectionParams={"a":1}', 'x=%', 'batch=1&batch=1'])]
      : []),
  ]
  const body = asQuery ? undefined : Buffer.from(random.oneIn(10) ? brokenText(random, text) : text)
  return { method, target: `/trpc/${calls.join(',')}?${parts.join('&')}`, body }
}

function trpcInput(random: Random, call: string): unknown {
  if (random.oneIn(10)) return random.pick(JSON_VALUES)
  const noun = call.split('.')[0] ?? ''
  const input: Fields = random.oneIn(2) ? { id: random.int(1, LARGEST_DRAWN_ID) } : {}
  if (QUERIES.test(call)) {
    for (const name of ['limit', 'page', 'age', 'price_lt']) {
      if (random.oneIn(4)) input[name] = random.pick([1, 2, 1000, 0, '1'])
    }
    for (const name of ['after', 'sort']) if (random.oneIn(4)) input[name] = queryValue(random, name, noun)
    if (random.oneIn(3)) input.count = random.pick([true, false, 'true'])
  } else {
    Object.assign(input, fieldsOf(random, noun))
    if (call.endsWith('Many')) input[noun] = bulkOf(random, noun)
    if (random.oneIn(4)) input.if_version = random.pick([1, [1, 2], 0, 'x', new Array(101).fill(1), []])
    if (random.oneIn(4)) input.idempotency_key = random.pick(KEYS)
  }
  return random.oneIn(4) ? mutated(random, input) : input
}
