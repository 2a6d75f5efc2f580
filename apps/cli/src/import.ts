import { createHash, createHmac, randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { resolve } from 'node:path'
import { type Client, ServiceError } from '@resource/client'
import { recordFields } from './columns.ts'
import { EXIT, Failure, invalid } from './failures.ts'
import { type Globals, openClient } from './globals.ts'
import { onInterrupt } from './interrupt.ts'
import { log, write } from './output.ts'
import { progress } from './progress.ts'
import { type Chunk, chunks } from './rows/chunks.ts'
import { type FailedRow, failedRowsFile } from './rows/failed-rows.ts'
import { FAILED_LINE, FAILED_REASON, type Format, type Row } from './rows/row.ts'
import { readRows } from './rows/rows.ts'
import { call, type JsonObject, KEY, type Noun, proceduresOf, recordSchema } from './service.ts'
import { checkSame, openStateFile } from './state.ts'

// The service keeps the responses of idempotency keys for 24 hours.
const MAX_IN_FLIGHT_AGE_MS = 23 * 60 * 60 * 1000
const MAX_REPORTED = 20
const RESUME_HINT = 'Run the same command to resume.'

export interface ImportOptions extends Globals {
  type: Noun
  format: Format
  chunkSize: number
  restart: boolean
}

interface ImportState {
  command: 'import'
  type: Noun
  url: string
  format: Format
  /** SHA-256 of the file. */
  digest: string
  chunkSize: number
  /** Random secret from which the idempotency keys are derived. */
  importId: string
  /** Rows processed so far: imported or failed. */
  rows: number
  imported: number
  failed: number
  failedBytes: number
  /** Whether the chunk after `rows` may have reached the service; `at` is when it was sent. */
  inFlight: boolean
  at: number
  /** Rows of that chunk that the service rejected: index in the chunk and reason. */
  refused: [number, string][]
}

/**
 * Sends the rows of a file in chunks, each with its own idempotency key, and saves the progress next to the file. A
 * resumed run repeats the chunk in flight with the same key, so every row is stored exactly once.
 *
 * @param file path, or `-` for stdin; an import from stdin cannot be resumed
 * @throws Failure with exit code 6 when rows failed, 130 when interrupted
 */
export async function importFile(file: string, options: ImportOptions): Promise<void> {
  const { type, format } = options
  const procedure = proceduresOf(type).createMany
  const schema = procedure && recordSchema(type, procedure.input)
  if (schema === undefined) throw invalid(`--type: ${type} cannot be created in bulk`)
  const ignored = [...recordFields(type), FAILED_LINE, FAILED_REASON]
  const rows = () => readRows(textOf(file), format, schema, ignored)

  const isStdin = file === '-'
  const stateFile = isStdin ? undefined : openStateFile<ImportState>(`${resolve(file)}.progress`)
  const total = isStdin ? undefined : await count(rows())
  const state = await startOrResume(file, options, stateFile)
  const failed = failedRowsFile(isStdin ? 'stdin' : resolve(file), format, state.failedBytes)
  await using open = await openClient(options, { isLongRunning: true })
  using interrupt = onInterrupt()
  const bar = progress('imported', total, state.rows)
  const save = () => stateFile?.write(state)

  for await (const chunk of chunks(rows(), state.chunkSize)) {
    if (chunk.start < state.rows) continue
    if (interrupt.requested) break
    Object.assign(state, { inFlight: true, at: Date.now() })
    save()
    const done = await sendChunk(open.client, state, chunk, save, interrupt.signal).catch((error) => {
      bar.end(state.rows)
      if (stateFile) log(`Stopped after row ${state.rows}. ${RESUME_HINT}`)
      throw error
    })
    report(done.failed, state.failed)
    state.failedBytes += failed.add(done.failed, state.failedBytes === 0)
    state.failed += done.failed.length
    state.imported += done.imported
    Object.assign(state, { rows: chunk.start + chunk.rows.length, inFlight: false, refused: [] })
    bar.update(state.rows)
  }
  bar.end(state.rows)
  if (interrupt.requested && state.rows !== total) {
    save()
    throw new Failure(EXIT.interrupted, `Stopped after row ${state.rows}.${stateFile ? ` ${RESUME_HINT}` : ''}`)
  }
  stateFile?.remove()
  const sum = { imported: state.imported, failed: state.failed }
  await write(options.json ? `${JSON.stringify(sum)}\n` : `${sum.imported} ${type} imported, ${sum.failed} failed\n`)
  if (state.failed > 0) throw new Failure(EXIT.partial, `The failed rows are in ${failed.path}`)
}

type StateFile = ReturnType<typeof openStateFile<ImportState>> | undefined

/** The saved state of an interrupted run, or a new one. */
async function startOrResume(file: string, options: ImportOptions, stateFile: StateFile): Promise<ImportState> {
  const { type, url, format, chunkSize, restart } = options
  const digest = file === '-' ? '' : await digestOf(file)
  const requested = { command: 'import' as const, type, url, format, digest, chunkSize }
  const saved = restart ? undefined : stateFile?.read()
  if (stateFile === undefined || saved === undefined) {
    const importId = randomBytes(16).toString('hex')
    return {
      ...requested,
      importId,
      rows: 0,
      imported: 0,
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

/** Sends the valid rows. If the service rejects some of them, removes those and sends the rest again. */
async function sendChunk(
  client: Client,
  state: ImportState,
  chunk: Chunk,
  save: () => void,
  signal: AbortSignal,
): Promise<{ imported: number; failed: FailedRow[] }> {
  for (;;) {
    const refused = new Map(state.refused)
    const sent = [...chunk.rows.keys()].filter((n) => chunk.rows[n]?.record !== undefined && !refused.has(n))
    const failed = chunk.rows.flatMap((row, n): FailedRow[] => {
      const reason = row.error ?? refused.get(n)
      return reason === undefined ? [] : [{ row, reason }]
    })
    if (sent.length === 0) return { imported: 0, failed }
    const records = sent.map((n) => chunk.rows[n]?.record as JsonObject)
    // The file's digest, the position and the number of rejected rows determine the records: same key, same request.
    const key = createHmac('sha256', state.importId)
      .update(`${state.digest} ${chunk.start} ${refused.size}`)
      .digest('hex')
    try {
      await call(client, state.type, 'createMany', { [state.type]: records, [KEY]: key }, { signal })
      return { imported: sent.length, failed }
    } catch (error) {
      const errors = error instanceof ServiceError ? [...error.faultsIn(state.type)] : []
      if (errors.length === 0) throw error
      for (const [index, reason] of errors) state.refused.push([sent[index] as number, reason])
      save()
    }
  }
}

function report(failed: FailedRow[], before: number): void {
  for (const [n, { row, reason }] of failed.entries()) {
    if (before + n < MAX_REPORTED) log(`line ${row.line}: ${reason}`)
    if (before + n === MAX_REPORTED) log('Further failed rows are written to the file only')
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

function textOf(file: string): AsyncIterable<string> {
  return file === '-' ? process.stdin.setEncoding('utf8') : createReadStream(file, 'utf8')
}
