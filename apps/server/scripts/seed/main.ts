// Fills a database with sample data: see `npm run seed -- --help`.
import { parseArgs } from 'node:util'
import { collections, fill, type Outcome } from '@resource/contract/samples'
import { databaseLabel, declarations } from '@resource/database'
import { createLocalClient } from '../../src/local.ts'
import { readConfig } from '../../src/process/config.ts'

const MAX_COUNT = 1_000_000
const MAX_SEED = 2 ** 31 - 1
const USAGE = `npm run seed                                     fills each empty collection: ${collections.join(', ')}
npm run seed -- --count 2000                     this many records of each
npm run seed -- --count users=10,items=1000      these numbers, and the default number of the others
npm run seed -- --database file:./shop.db        this database; default: DATABASE_URL, or file:./data/resource.db
npm run seed -- --seed 7                         other records; the same seed creates the same records

The service may run at the same time. Collections that have records are not changed. A collection whose sample records the service
refuses does not affect the others.`

/** Invalid arguments; the message is shown to the user. */
class UsageError extends Error {}

try {
  await main()
} catch (error) {
  const isUsage = error instanceof UsageError || (error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS')
  console.error((error as Error).message)
  process.exitCode = isUsage ? 2 : 1
}

async function main() {
  const { values } = parseArgs({
    options: {
      help: { type: 'boolean' },
      count: { type: 'string' },
      database: { type: 'string' },
      seed: { type: 'string', default: '1' },
    },
  })
  if (values.help) return console.log(USAGE)
  const counts = countsIn(values.count)
  const seed = numberIn('--seed', values.seed, MAX_SEED)
  const databaseUrl = databaseIn(values.database ?? process.env.DATABASE_URL)
  await using client = await createLocalClient({ databaseUrl })
  const unique = Object.fromEntries(Object.entries(declarations).map(([noun, table]) => [noun, table.unique]))
  for await (const outcome of fill(client, { seed, counts, unique })) {
    const { noun, refusal } = outcome
    if (refusal === undefined) console.log(sentence(outcome))
    else {
      console.error(`${noun}: ${outcome.created} created. ${refusal}`)
      console.error(
        `  Describe records that the service accepts for ${noun} in packages/contract/src/samples/samples.ts.`,
      )
      process.exitCode = 1
    }
  }
  console.log(`Database: ${databaseLabel(databaseUrl)}`)
}

/** Reads `2000` or `users=10,items=1000`. */
function countsIn(text: string | undefined): Record<string, number> {
  if (text === undefined) return {}
  if (!text.includes('=')) {
    const count = numberIn('--count', text, MAX_COUNT)
    return Object.fromEntries(collections.map((noun) => [noun, count]))
  }
  return Object.fromEntries(
    text.split(',').map((part) => {
      const [noun = '', count = ''] = part.split('=').map((word) => word.trim())
      if (!collections.includes(noun)) {
        throw new UsageError(`--count: "${noun}" is not a collection; must be one of ${collections.join(', ')}`)
      }
      return [noun, numberIn(`--count ${noun}`, count, MAX_COUNT)]
    }),
  )
}

function databaseIn(url: string | undefined): string {
  try {
    return readConfig({ DATABASE_URL: url }).DATABASE_URL
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

function numberIn(option: string, text: string, max: number): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (value <= max) return value
  throw new UsageError(`${option}: must be a whole number from 0 to ${max}`)
}

function sentence({ noun, created, total, requested }: Outcome): string {
  if (created === undefined) return `${noun}: unchanged, it already has ${total} ${total === 1 ? 'record' : 'records'}`
  return created < requested
    ? `${noun}: ${created} created; a unique field has no further values`
    : `${noun}: ${created} created`
}
