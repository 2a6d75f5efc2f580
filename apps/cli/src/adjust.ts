import type { Client } from '@resource/client'
import { changedNumber, type NumberChange } from '@resource/import'
import { answer } from './answer.ts'
import { Failure, invalid } from './failures.ts'
import type { Field } from './fields.ts'
import type { Globals } from './globals.ts'
import { AFTER, call, countOf, ID, IF_VERSION, type JsonObject, LIMIT, type Noun, type PageInfo } from './service.ts'

/** As many as a batch of the service matches. */
const MAX_RECORDS = 20_000
const PAGE_SIZE = 1000
const PRICE_DECIMALS = 2

/** A change of a number of each record by an amount or a factor: `--add price=5`, `--multiply price=1.1`. */
export interface Adjustment {
  field: string
  /** `price × 1.1` */
  text: string
  next: (value: number) => number
}

/** @throws Failure for another form than FIELD=NUMBER, or for both options */
export function adjustmentOf(
  { add, multiply }: { add?: string; multiply?: string },
  fields: Field[],
): Adjustment | undefined {
  if (add === undefined && multiply === undefined) return undefined
  if (add !== undefined && multiply !== undefined) throw invalid('--add: cannot be combined with --multiply')
  const [option, text = ''] = add === undefined ? ['--multiply', multiply] : ['--add', add]
  const [, field = '', number = ''] = /^(\w+)=([+-]?\d+(?:\.\d+)?)$/.exec(text) ?? []
  const numbers = fields.flatMap(({ name, kind }) =>
    kind === 'number' && ![ID, IF_VERSION].includes(name) ? [name] : [],
  )
  if (!numbers.includes(field)) {
    throw invalid(`${option}: must be FIELD=NUMBER, with FIELD one of: ${numbers.join(', ') || 'none'}`)
  }
  const by = Number(number)
  const change: NumberChange = add === undefined ? { multiply: by } : { add: by }
  const next = (value: number) => changedNumber(value, change, PRICE_DECIMALS)
  return { field, next, text: `${field} ${add === undefined ? '×' : by < 0 ? '-' : '+'} ${Math.abs(by)}` }
}

/** The matching records. @throws Failure if there are too many */
export async function matching(client: Client, noun: Noun, filters: JsonObject): Promise<JsonObject[]> {
  const records: JsonObject[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page = await call(client, noun, 'list', { ...filters, [LIMIT]: PAGE_SIZE, [AFTER]: cursor })
    records.push(...(page[noun] as JsonObject[]))
    cursor = (page as unknown as PageInfo).next
    if (records.length > MAX_RECORDS)
      throw invalid(`More than ${MAX_RECORDS} ${noun} match: choose fewer with --filter`)
  }
  return records
}

/** Changes the number in each record that still is as it was read. @throws Failure that names the others */
export async function adjust(
  client: Client,
  noun: Noun,
  records: JsonObject[],
  { field, next }: Adjustment,
  globals: Globals,
): Promise<void> {
  const rows = records.map((record) => ({
    [ID]: record[ID],
    [IF_VERSION]: record.version,
    [field]: next(record[field] as number),
  }))
  const failed: { id: unknown; message: string }[] = []
  for (let start = 0; start < rows.length; start += PAGE_SIZE) {
    const chunk = rows.slice(start, start + PAGE_SIZE)
    const { results } = await call(client, noun, 'updateMany', { [noun]: chunk, partial: true })
    for (const [n, { error }] of (results as { error?: string }[]).entries()) {
      if (error !== undefined) failed.push({ id: chunk[n]?.[ID], message: error })
    }
  }
  const updated = rows.length - failed.length
  await answer({ updated, failed: failed.length }, globals, () => `${countOf(noun, updated)} updated\n`)
  if (failed.length === 0) return
  throw new Failure('partial', failed.map(({ id, message }) => `${id}: ${message}`).join('\n'), { records: failed })
}
