import { existsSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { resolve } from 'node:path'
import { guardFormula } from '@resource/contract/formulas'
import { stringify } from 'csv-stringify/sync'
import { recordFields } from './columns.ts'
import { EXIT, Failure, faultLines, invalid } from './failures.ts'
import { fieldsOf } from './fields.ts'
import { type Globals, openClient } from './globals.ts'
import { onInterrupt } from './interrupt.ts'
import { tell, write } from './output.ts'
import { progress } from './progress.ts'
import { AFTER, COUNT, call, LIMIT, type Noun, PAGE, type PageFacts, proceduresOf, SORT, type Wire } from './service.ts'
import { checkSame, stateFile } from './state.ts'
import { parseValue } from './values.ts'

const PAGE_SIZE = 1000

export interface ExportOptions extends Globals {
  type: Noun
  format: 'csv' | 'ndjson'
  output?: string
  where: string[]
  sort?: string
  resume: boolean
  restart: boolean
}

interface ExportState {
  command: 'export'
  type: Noun
  url: string
  format: 'csv' | 'ndjson'
  filters: Wire
  /** Cursor of the next page, empty at the start. */
  cursor: string
  /** Bytes of the file that hold whole pages. */
  bytes: number
  records: number
  total?: number | undefined
}

/**
 * Writes all records that match, page by page along the cursor, to a file or to stdout; only one page is in memory.
 * Beside a file it keeps the cursor, from which `--resume` goes on.
 *
 * @throws Failure with exit code 130 when interrupted
 */
export async function exportRecords(options: ExportOptions): Promise<void> {
  const { type, url, format, output } = options
  if (output === undefined && (options.resume || options.restart)) throw invalid('--resume and --restart need --output')
  const filters = filtersOf(options)
  const keep = output === undefined ? undefined : stateFile<ExportState>(`${resolve(output)}.progress`)
  const asked = { command: 'export' as const, type, url, format, filters }
  const state = begin(options, keep, asked)
  await using open = await openClient(options, { isPatient: true })
  using interrupt = onInterrupt()
  await using file = output === undefined ? undefined : await openAt(output, state.bytes)
  let bar: ReturnType<typeof progress> | undefined

  for (let cursor: string | null = state.cursor; cursor !== null; ) {
    if (interrupt.requested) {
      keep?.write(state)
      throw new Failure(EXIT.interrupted, `Stopped after ${state.records} records.${keep ? ' --resume goes on.' : ''}`)
    }
    const input = { ...filters, [LIMIT]: PAGE_SIZE, [AFTER]: cursor, [COUNT]: state.total === undefined }
    const page = await call(open.client, type, 'list', input, { signal: interrupt.signal }).catch((error) => {
      bar?.end(state.records)
      if (keep && state.records > 0) tell(`Stopped after ${state.records} records. --resume goes on.`)
      throw error
    })
    const facts = page as unknown as PageFacts
    const records = page[type] as Wire[]
    state.total ??= facts.total
    bar ??= progress('exported', state.total, state.records)
    const text = textOf(type, format, records, state.records === 0)
    if (file === undefined) await write(text)
    else state.bytes += (await file.write(text, state.bytes)).bytesWritten
    state.records += records.length
    cursor = facts.next
    if (cursor !== null) {
      state.cursor = cursor
      keep?.write(state)
    }
    bar.at(state.records)
  }
  bar?.end(state.records)
  keep?.remove()
  if (output !== undefined) {
    await write(
      options.json ? `${JSON.stringify({ exported: state.records })}\n` : `${state.records} ${type} exported\n`,
    )
  }
}

type Keep = ReturnType<typeof stateFile<ExportState>> | undefined

function begin({ output = '', resume, restart }: ExportOptions, keep: Keep, asked: Partial<ExportState>): ExportState {
  const kept = restart ? undefined : keep?.read()
  if (keep !== undefined && kept !== undefined) {
    if (!resume) throw invalid(`An export to ${output} broke off after ${kept.records} records: --resume or --restart`)
    checkSame(keep.path, kept, asked)
    tell(`Going on after ${kept.records} records`)
    return kept
  }
  if (resume) throw invalid(`--resume: there is no ${output}.progress of an export that broke off`)
  if (!restart && output !== '' && existsSync(output))
    throw invalid(`${output} is there already: --restart replaces it`)
  return { ...(asked as ExportState), cursor: '', bytes: 0, records: 0 }
}

/** What stands behind `bytes` came from a page that was not finished. */
async function openAt(path: string, bytes: number): Promise<FileHandle> {
  const file = await open(path, bytes === 0 ? 'w' : 'r+')
  await file.truncate(bytes)
  return file
}

function textOf(type: Noun, format: 'csv' | 'ndjson', records: Wire[], isFirst: boolean): string {
  if (format === 'ndjson') return records.map((record) => `${JSON.stringify(record)}\n`).join('')
  return stringify(records.map(guarded), { header: isFirst, columns: recordFields(type), cast: { boolean: String } })
}

function guarded(record: Wire): Wire {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, guardFormula(value)]))
}

/** `--where role=admin` as the fields of the list's input, checked by the contract. */
function filtersOf({ type, where, sort }: ExportOptions): Wire {
  const { list } = proceduresOf(type)
  if (list === undefined) throw invalid(`--type: ${type} cannot be listed`)
  const fields = fieldsOf(list.input).filter(({ name }) => ![PAGE, LIMIT, AFTER, COUNT, SORT].includes(name))
  const filters: Wire = sort === undefined ? {} : { [SORT]: sort }
  for (const text of where) {
    const [name = '', ...rest] = text.split('=')
    const field = fields.find((field) => field.name === name)
    const known = fields.map(({ name }) => name).join(', ') || 'none'
    if (field === undefined || rest.length === 0) {
      throw invalid(`--where: must be FIELD=VALUE, where the field is one of: ${known}`)
    }
    filters[name] = parseValue(field, rest.join('='))
  }
  const parsed = list.input.safeParse(filters)
  if (parsed.success) return filters
  const faults = parsed.error.issues.map(({ path, message }) => ({ field: path.join('.'), message }))
  throw invalid(faultLines(faults, []))
}
