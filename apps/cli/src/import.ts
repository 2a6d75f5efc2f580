import { createHash, randomBytes } from 'node:crypto'
import { createReadStream, existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { IMPORT_ERROR, IMPORT_LINE } from '@resource/contract/import-columns'
import type { z } from 'zod'
import { answer } from './answer.ts'
import { recordFields } from './columns.ts'
import { Failure, invalid, isUnreachable, toFailure } from './failures.ts'
import { type Field, fieldsOf } from './fields.ts'
import { type Globals, openClient, SECOND_MS } from './globals.ts'
import { importHistory } from './import-history.ts'
import { onInterrupt } from './interrupt.ts'
import { jsonFile } from './json-file.ts'
import { log } from './output.ts'
import { progress } from './progress.ts'
import { confirm, isInteractive } from './prompt.ts'
import { chunks } from './rows/chunks.ts'
import { type CsvLayout, guessLayout, type LayoutOptions } from './rows/csv-layout.ts'
import { type RemainingRow, remainingRowsFile } from './rows/remaining-rows.ts'
import type { Format, Row, Text } from './rows/row.ts'
import { type RowFormat, readRows } from './rows/rows.ts'
import { checkSame } from './saved-run.ts'
import { type ImportMode, type ImportState, type SendContext, sendChunk } from './send.ts'
import { ID, type Noun, proceduresOf, recordSchema } from './service.ts'

// The service keeps the responses of idempotency keys for 24 hours.
const MAX_IN_FLIGHT_AGE_MS = 23 * 60 * 60 * 1000
const MAX_REPORTED = 20
// Shorter outages are not worth a message.
const QUIET_RETRY_MS = 2000
const SAMPLE_CHARACTERS = 256 * 1024
const RESUME_HINT = 'Run the same command to resume.'

export interface ImportOptions extends Globals, LayoutOptions {
  type: Noun
  format: Format
  mode: ImportMode
  chunkSize: number
  /** How long to wait for an unreachable service, in seconds. */
  wait: number
  restart: boolean
  again: boolean
  yes: boolean
}

/**
 * Sends the rows of a file in chunks, each with its own idempotency key, and saves the progress next to the file. A
 * resumed run repeats the chunk in flight with the same key, so every row is stored exactly once.
 *
 * @param file path, or `-` for stdin; an import from stdin cannot be resumed
 * @throws Failure `partial` when rows failed, `interrupted` when stopped
 */
export async function importFile(file: string, options: ImportOptions): Promise<void> {
  const { type, format, mode } = options
  const isStdin = file === '-'
  const source = isStdin ? await peeked(process.stdin.setEncoding('utf8')) : await opened(file)
  const schema = schemaOf(type, mode)
  const ignored = [...recordFields(type), IMPORT_LINE, IMPORT_ERROR]
  const stateFile = isStdin ? undefined : jsonFile<ImportState>(`${resolve(file)}.progress`)
  const state = await startOrResume(file, options, stateFile, () => layoutOf(source.sample, options, schema, ignored))
  const rowFormat: RowFormat = { format, schema, ignored, layout: state.layout, emptyIsNull: mode.action !== 'create' }
  const rows = () => readRows(source.text(), rowFormat)
  const total = isStdin ? undefined : await count(rows())
  const remaining = remainingRowsFile(
    isStdin ? 'stdin' : resolve(file),
    format,
    state.failedBytes,
    state.layout?.delimiter ?? ',',
  )
  await using open = await openClient(options, { retryForMs: QUIET_RETRY_MS })
  using interrupt = onInterrupt()
  const bar = progress('imported', total, state.rows)
  const context: SendContext = {
    client: open.client,
    state,
    save: () => stateFile?.write(state),
    interrupt,
    waitMs: options.wait * SECOND_MS,
  }
  const reported: { line: number; message: string }[] = []
  let stop: Failure | undefined
  let unsent = 0

  for await (const chunk of chunks(rows(), state.chunkSize)) {
    if (chunk.start < state.rows) continue
    if (interrupt.requested) stop ??= new Failure('interrupted', '')
    if (interrupt.signal.aborted) break
    if (stop !== undefined) {
      remaining.add(chunk.rows.map((row) => ({ row, reason: '' })))
      unsent += chunk.rows.length
      continue
    }
    Object.assign(state, { inFlight: true, at: Date.now() })
    context.save()
    try {
      const done = await sendChunk(context, chunk)
      report(done.failed, reported)
      state.failedBytes = remaining.add(done.failed)
      state.failed += done.failed.length
      state.created += done.created
      state.updated += done.updated
      Object.assign(state, { rows: chunk.start + chunk.rows.length, inFlight: false, refused: [] })
      bar.update(state.rows)
    } catch (error) {
      stop = toFailure(error, options)
      const reason =
        isUnreachable(error) || stop.outcome === 'interrupted'
          ? 'may have been imported: the service did not answer'
          : ''
      remaining.add(chunk.rows.map((row) => ({ row, reason })))
      unsent += chunk.rows.length
    }
  }
  bar.end(state.rows)
  if (stop !== undefined && state.rows !== total) {
    context.save()
    throw stopped(stop, state, stateFile !== undefined, unsent, remaining.path)
  }
  stateFile?.remove()
  remember(file, options, state)
  const { created, updated, failed } = state
  const sum = mode.action === 'create' ? { imported: created, failed } : { created, updated, failed }
  const text =
    mode.action === 'create'
      ? `${created} ${type} imported`
      : `${created} ${type} created, ${updated} updated or unchanged`
  await answer(sum, options, () => `${text}, ${failed} failed\n`)
  if (failed > 0) {
    throw new Failure('partial', `The failed rows are in ${remaining.path}`, {
      remaining: remaining.path,
      rows: reported,
    })
  }
}

function stopped(
  { outcome, message }: Failure,
  { rows }: ImportState,
  canResume: boolean,
  unsent: number,
  path: string,
): Failure {
  const lines = [
    ...(message === '' ? [] : [`${outcome === 'unavailable' ? 'Service unreachable' : 'Refused'}: ${message}`]),
    `Stopped after row ${rows}.${canResume ? ` ${RESUME_HINT}` : ''}`,
    ...(unsent > 0 ? [`The ${unsent} rows that were not sent are in ${path}`] : []),
  ]
  return new Failure(outcome, lines.join('\n'), { rows, unsent, ...(unsent > 0 && { remaining: path }) })
}

function schemaOf(type: Noun, { action, key }: ImportMode): z.ZodObject {
  const { createMany, updateMany } = proceduresOf(type)
  const procedure = action === 'create' ? createMany : updateMany
  const schema = procedure && recordSchema(type, procedure.input)
  if (procedure === undefined || schema === undefined)
    throw invalid(`--type: ${type} cannot be ${action === 'create' ? 'created' : 'updated'} in bulk`)
  if (action === 'create') return schema
  const keys = fieldsOf(procedure.input).find(({ name }) => name === 'key')?.choices ?? []
  if (!keys.includes(key)) throw invalid(`--upsert: must be one of: ${keys.join(', ')}`)
  // The ids in the file of another service are those of other records.
  return key === ID ? schema : schema.omit({ [ID]: true })
}

/** The fields for which a CSV file needs a column. */
function requiredFields(fields: Field[], { action, key }: ImportMode): string[] {
  if (action === 'create') return fields.flatMap(({ name, required }) => (required ? [name] : []))
  // Rows without an id are created.
  return action === 'upsert' && key === ID ? [] : [key]
}

/** The layout of a CSV file. What was guessed is shown and must be confirmed. */
async function layoutOf(
  sample: string,
  options: ImportOptions,
  schema: z.ZodObject,
  ignored: string[],
): Promise<CsvLayout | undefined> {
  if (options.format !== 'csv') return undefined
  const fields = fieldsOf(schema)
  const required = requiredFields(fields, options.mode)
  const { layout, guesses } = guessLayout(sample, fields, ignored, required, options)
  if (guesses.length === 0) return layout
  if (options.yes) log(guesses.join('\n'))
  else if (!isInteractive()) {
    throw invalid(
      `${guesses.join('\n')}\nThese are guesses. Add --yes to accept them, or set --map, --delimiter and --decimal-comma`,
    )
  } else {
    process.stderr.write(`${guesses.join('\n')}\n`)
    if (!(await confirm('Import the file like this?'))) throw new Failure('interrupted', 'Nothing was imported.')
  }
  return layout
}

/** The saved state of an interrupted run, or a new one. */
async function startOrResume(
  file: string,
  options: ImportOptions,
  stateFile: ReturnType<typeof jsonFile<ImportState>> | undefined,
  layout: () => Promise<CsvLayout | undefined>,
): Promise<ImportState> {
  const { type, url, format, mode, chunkSize, restart } = options
  const digest = file === '-' ? '' : await digestOf(file)
  const requested = { command: 'import' as const, type, url, format, mode, digest, chunkSize }
  const saved = restart ? undefined : stateFile?.read()
  if (stateFile === undefined || saved === undefined) {
    if (!(await isWanted(file, options, digest))) throw new Failure('interrupted', 'Nothing was imported.')
    return {
      ...requested,
      layout: await layout(),
      importId: randomBytes(16).toString('hex'),
      rows: 0,
      created: 0,
      updated: 0,
      failed: 0,
      failedBytes: 0,
      inFlight: false,
      at: 0,
      refused: [],
    }
  }
  if (saved.digest !== digest) {
    throw invalid(
      `${file} has changed since its import stopped after row ${saved.rows}. Restore the original file to resume, ` +
        'or use --restart to start over, which imports those rows again',
    )
  }
  checkSame(stateFile.path, saved, requested)
  if (saved.inFlight && Date.now() - saved.at > MAX_IN_FLIGHT_AGE_MS) {
    throw invalid(
      `The import stopped more than 23 hours ago, so a retry could store the ${chunkSize} rows after row ${saved.rows} ` +
        'twice. Check which of them are stored, then import the missing rows from a separate file',
    )
  }
  log(`Resuming after row ${saved.rows}`)
  return saved
}

/** Whether to import a file that was imported before; only creating records again is a mistake. */
async function isWanted(file: string, options: ImportOptions, digest: string): Promise<boolean> {
  if (file === '-' || options.mode.action !== 'create') return true
  const unfinished = /^(.*)\.remaining\.(csv|ndjson)$/.exec(resolve(file))?.[1]
  if (unfinished !== undefined && existsSync(`${unfinished}.progress`) && !options.again) {
    throw invalid(
      `The import of ${unfinished} is not complete: resume it, or use --again to import its remaining rows from ${file}`,
    )
  }
  const before = options.again || options.restart ? undefined : historyOf(options, digest).find()
  if (before === undefined) return true
  const fact = `${file} was already imported on ${before.at.slice(0, 16).replace('T', ' ')} UTC, as ${before.file} (${before.imported} ${options.type}).`
  if (options.yes || !isInteractive())
    throw new Failure('conflict', `${fact} Use --again to import it again`, { imported: before })
  return confirm(`${fact} Import it again?`)
}

function remember(file: string, options: ImportOptions, { digest, created }: ImportState): void {
  if (file === '-' || options.mode.action !== 'create' || created === 0) return
  try {
    historyOf(options, digest).add({ at: new Date().toISOString(), file: resolve(file), imported: created })
  } catch (error) {
    log(`The import is complete, but was not recorded: ${(error as Error).message}`)
  }
}

function historyOf({ database, url, type }: ImportOptions, digest: string) {
  return importHistory(database ?? url, type, digest)
}

function report(failed: RemainingRow[], reported: { line: number; message: string }[]): void {
  for (const { row, reason } of failed) {
    if (reported.length < MAX_REPORTED) log(`line ${row.line}: ${reason}`)
    if (reported.length === MAX_REPORTED) log('Further failed rows are written to the file only')
    if (reported.length <= MAX_REPORTED) reported.push({ line: row.line, message: reason })
  }
}

async function count(rows: AsyncIterable<Row>): Promise<number> {
  let total = 0
  for await (const _ of rows) total++
  return total
}

async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(file)) hash.update(chunk)
  return hash.digest('hex')
}

/** The beginning of a text, and the text, which can be read once or again. */
interface Source {
  sample: string
  text: () => Text
}

async function opened(file: string): Promise<Source> {
  const { sample } = await peeked(createReadStream(file, 'utf8'))
  return { sample, text: () => createReadStream(file, 'utf8') }
}

async function peeked(stream: NodeJS.ReadableStream): Promise<Source> {
  const iterator = stream[Symbol.asyncIterator]() as AsyncIterator<string>
  const read: string[] = []
  let characters = 0
  while (characters < SAMPLE_CHARACTERS) {
    const { value, done } = await iterator.next()
    if (done) break
    read.push(value)
    characters += value.length
  }
  async function* text() {
    yield* read
    for (let next = await iterator.next(); !next.done; next = await iterator.next()) yield next.value
  }
  return { sample: read.join(''), text }
}
