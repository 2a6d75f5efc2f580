import { statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { resolve } from 'node:path'
import { csvText, type Format } from '@resource/import'
import { Failure, invalid, toFailure } from './failures.ts'
import { parseFilters, searchLimitText } from './filters.ts'
import { type Globals, SECOND_MS } from './globals.ts'
import { onInterrupt } from './interrupt.ts'
import { checkSame, jsonFile } from './json-file.ts'
import { openClient, targetOf } from './open-client.ts'
import { log, remark, write } from './output.ts'
import { answer, checkFields, picked } from './print-records.ts'
import { AFTER, COUNT, call, type JsonObject, LIMIT, type Noun, type Page } from './procedures.ts'
import { progress } from './progress.ts'
import { recordFields } from './table-columns.ts'

const PAGE_SIZE = 1000

/** For spreadsheets, which otherwise read UTF-8 in the legacy encoding of the computer. */
const BYTE_ORDER_MARK = '\uFEFF'

export interface ExportOptions extends Globals {
  type: Noun
  format: Format
  /** Whether CSV begins with a byte order mark. */
  bom: boolean
  output?: string
  where: string[]
  search?: string
  sort?: string
  resume: boolean
  restart: boolean
}

interface ExportState {
  command: 'export'
  type: Noun
  url: string
  format: Format
  filters: JsonObject
  columns: string[]
  /** Cursor of the next page; empty for the first. */
  cursor: string
  /** Bytes of the file up to the end of the last complete page. */
  bytes: number
  records: number
  total?: number | undefined
}

/**
 * Writes all matching records to a file or stdout, page by page. Only one page is in memory. The cursor is saved next to
 * the file, so that `--resume` can continue.
 *
 * @throws Failure with exit code 130 when interrupted
 */
export async function exportRecords(options: ExportOptions): Promise<void> {
  const { type, format, output } = options
  if (output === undefined && (options.resume || options.restart))
    throw invalid('--resume and --restart require --output')
  const filters = parseFilters(type, 'list', options.where, options.search, options.sort)
  checkFields(options, recordFields(type))
  const columns = options.fields ?? recordFields(type)
  const stateFile = output === undefined ? undefined : jsonFile<ExportState>(`${resolve(output)}.progress`)
  const url = await targetOf(options)
  const requested = { command: 'export' as const, type, url, format, filters, columns }
  const state = startOrResume(options, stateFile, requested)
  await using service = await openClient(options, { retryForMs: options.timeout * SECOND_MS })
  using interrupt = onInterrupt()
  let bar: ReturnType<typeof progress> | undefined
  let canResume = options.resume

  const nextPage = async () => {
    if (interrupt.requested) throw stopped(new Failure('interrupted', ''), state.records, canResume)
    const input = { ...filters, [LIMIT]: PAGE_SIZE, [AFTER]: state.cursor, [COUNT]: state.total === undefined }
    const page = await call(service.client, type, 'list', input, { signal: interrupt.signal }).catch((error) => {
      bar?.end(state.records)
      throw stopped(toFailure(error, options), state.records, canResume)
    })
    return { ...(page as Page), records: page[type] as JsonObject[] }
  }

  let page = await nextPage()
  state.total ??= page.total
  // Only now: an export that cannot start leaves the file and the progress of an earlier one.
  await using file = output === undefined ? undefined : await open(output, 'a')
  stateFile?.write(state)
  canResume = stateFile !== undefined
  // What follows is from an unfinished page, or from an earlier export.
  await file?.truncate(state.bytes)
  bar = progress('exported', state.total, state.records)
  for (;;) {
    const isFirst = state.records === 0
    const text =
      (isFirst && format === 'csv' && options.bom ? BYTE_ORDER_MARK : '') +
      textOf(columns, format, page.records, isFirst, page.next === null)
    if (file === undefined) await write(text)
    else await file.appendFile(text)
    state.bytes += Buffer.byteLength(text)
    state.records += page.records.length
    if (page.next === null) break
    state.cursor = page.next
    stateFile?.write(state)
    bar.update(state.records)
    page = await nextPage()
  }
  bar.end(state.records)
  const { searched } = page
  if (searched !== undefined) remark([searchLimitText(type, searched)], { searched })
  stateFile?.remove()
  if (output !== undefined) {
    // `--fields` chooses the columns of the file, not those of this answer.
    await answer({ exported: state.records }, { json: options.json }, () => `${state.records} ${type} exported\n`)
  }
}

/** The failure of an export that did not reach the end. */
function stopped({ outcome, message, details }: Failure, records: number, canResume: boolean): Failure {
  const end = `Stopped after ${records} records.${canResume ? ' Use --resume to continue.' : ''}`
  return new Failure(outcome, [message, end].filter(Boolean).join('\n'), { ...details, records })
}

type StateFile = ReturnType<typeof jsonFile<ExportState>> | undefined

function startOrResume(
  { output = '', resume, restart }: ExportOptions,
  stateFile: StateFile,
  requested: Partial<ExportState>,
): ExportState {
  const existing = output === '' ? undefined : statSync(output, { throwIfNoEntry: false })
  if (existing?.isDirectory()) throw invalid(`--output: ${output} is a folder, not a file`)
  const saved = restart ? undefined : stateFile?.read()
  if (stateFile !== undefined && saved !== undefined) {
    if (!resume)
      throw invalid(`An export to ${output} stopped after ${saved.records} records: use --resume or --restart`)
    checkSame(stateFile.path, saved, requested)
    const size = existing?.size ?? 0
    if (size < saved.bytes) {
      throw invalid(
        `${output} has ${size} bytes, but ${saved.bytes} were exported: restore the file, or use --restart to start over`,
      )
    }
    log(`Resuming after ${saved.records} records`)
    return saved
  }
  if (resume)
    throw invalid(`--resume: no interrupted export to ${output} was found (${output}.progress does not exist)`)
  if (!restart && existing !== undefined) throw invalid(`${output} already exists: use --restart to replace it`)
  return { ...(requested as ExportState), cursor: '', bytes: 0, records: 0 }
}

function textOf(columns: string[], format: Format, records: JsonObject[], isFirst: boolean, isLast: boolean): string {
  if (format === 'csv') {
    const rows = records.map((record) => columns.map((name) => record[name]))
    return csvText(isFirst ? [columns, ...rows] : rows)
  }
  const texts = records.map((record) => JSON.stringify(picked(record, columns)))
  if (format === 'ndjson') return texts.map((text) => `${text}\n`).join('')
  const start = isFirst ? '[' : texts.length > 0 ? ',' : ''
  return `${start}${texts.join(',')}${isLast ? ']\n' : ''}`
}
