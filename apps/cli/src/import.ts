import { createHash, createHmac, randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { resolve } from 'node:path'
import { type Client, ServiceError } from '@resource/client'
import { recordFields } from './columns.ts'
import { EXIT, Failure, invalid } from './failures.ts'
import { type Globals, openClient } from './globals.ts'
import { onInterrupt } from './interrupt.ts'
import { tell, write } from './output.ts'
import { progress } from './progress.ts'
import { type Chunk, chunks } from './rows/chunks.ts'
import { type FailedRow, failedFile } from './rows/failed.ts'
import { FAILED_LINE, FAILED_REASON, type Format, type Row } from './rows/row.ts'
import { readRows } from './rows/rows.ts'
import { call, KEY, type Noun, proceduresOf, recordSchema, type Wire } from './service.ts'
import { checkSame, stateFile } from './state.ts'

// The service keeps the answers to idempotency keys for 24 hours.
const KEYS_HOLD_MS = 23 * 60 * 60 * 1000
const MOST_TOLD = 20

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
  /** Random, and the secret that the idempotency keys are made with. */
  importId: string
  /** Rows that are done, imported or failed. */
  rows: number
  imported: number
  failed: number
  failedBytes: number
  /** Whether the chunk after `rows` may have reached the service, and since when. */
  inFlight: boolean
  at: number
  /** Rows of that chunk that the service refused, by place in the chunk. */
  refused: [number, string][]
}

/**
 * Sends a file's rows in chunks, each under an idempotency key of its own, and keeps beside the file how far it came.
 * A run that goes on repeats the chunk that was in flight under the same key, so that every row is stored once.
 *
 * @param file path, or `-` for stdin, which cannot go on after a break
 * @throws Failure with exit code 6 when rows failed, 130 when interrupted
 */
export async function importFile(file: string, options: ImportOptions): Promise<void> {
  const { type, format } = options
  const procedure = proceduresOf(type).createMany
  const schema = procedure && recordSchema(type, procedure.input)
  if (schema === undefined) throw invalid(`--type: ${type} cannot be created in bulk`)
  const passed = [...recordFields(type), FAILED_LINE, FAILED_REASON]
  const rows = () => readRows(textOf(file), format, schema, passed)

  const isStdin = file === '-'
  const keep = isStdin ? undefined : stateFile<ImportState>(`${resolve(file)}.progress`)
  const total = isStdin ? undefined : await count(rows())
  const state = await begin(file, options, keep)
  const failed = failedFile(isStdin ? 'stdin' : resolve(file), format, state.failedBytes)
  await using open = await openClient(options, { isPatient: true })
  using interrupt = onInterrupt()
  const bar = progress('imported', total, state.rows)
  const save = () => keep?.write(state)

  for await (const chunk of chunks(rows(), state.chunkSize)) {
    if (chunk.start < state.rows) continue
    if (interrupt.requested) break
    Object.assign(state, { inFlight: true, at: Date.now() })
    save()
    const done = await sendChunk(open.client, state, chunk, save, interrupt.signal).catch((error) => {
      bar.end(state.rows)
      if (keep) tell(`Stopped after row ${state.rows}. The same command goes on from there.`)
      throw error
    })
    report(done.failed, state.failed)
    state.failedBytes += failed.add(done.failed, state.failedBytes === 0)
    state.failed += done.failed.length
    state.imported += done.imported
    Object.assign(state, { rows: chunk.start + chunk.rows.length, inFlight: false, refused: [] })
    bar.at(state.rows)
  }
  bar.end(state.rows)
  if (interrupt.requested && state.rows !== total) {
    save()
    throw new Failure(
      EXIT.interrupted,
      `Stopped after row ${state.rows}.${keep ? ' The same command goes on from there.' : ''}`,
    )
  }
  keep?.remove()
  const sum = { imported: state.imported, failed: state.failed }
  await write(options.json ? `${JSON.stringify(sum)}\n` : `${sum.imported} ${type} imported, ${sum.failed} failed\n`)
  if (state.failed > 0) throw new Failure(EXIT.partial, `The failed rows are in ${failed.path}`)
}

type Keep = ReturnType<typeof stateFile<ImportState>> | undefined

/** The state to go on from, or a new one. */
async function begin(file: string, options: ImportOptions, keep: Keep): Promise<ImportState> {
  const { type, url, format, chunkSize, restart } = options
  const digest = file === '-' ? '' : await digestOf(file)
  const asked = { command: 'import' as const, type, url, format, digest, chunkSize }
  const kept = restart ? undefined : keep?.read()
  if (keep === undefined || kept === undefined) {
    const importId = randomBytes(16).toString('hex')
    return { ...asked, importId, rows: 0, imported: 0, failed: 0, failedBytes: 0, inFlight: false, at: 0, refused: [] }
  }
  if (kept.digest !== digest) {
    throw invalid(
      `${file} has changed since its import broke off after row ${kept.rows}: put the old file back to go on, ` +
        `or begin anew with --restart, which imports those rows a second time`,
    )
  }
  checkSame(keep.path, kept, asked)
  if (kept.inFlight && Date.now() - kept.at > KEYS_HOLD_MS) {
    throw invalid(
      `The import broke off more than 23 hours ago, and the service no longer tells whether the ${chunkSize} rows after ` +
        `row ${kept.rows} were stored: look, then import what is missing from a file of its own`,
    )
  }
  tell(`Going on after row ${kept.rows}`)
  return kept
}

/** Sends the rows that are sound; those that the service refuses are taken out, and the rest goes again. */
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
      const reason = row.fault ?? refused.get(n)
      return reason === undefined ? [] : [{ row, reason }]
    })
    if (sent.length === 0) return { imported: 0, failed }
    const records = sent.map((n) => chunk.rows[n]?.record as Wire)
    // The file's digest, the place and what is left out determine the records, so the same key means the same request.
    const key = createHmac('sha256', state.importId)
      .update(`${state.digest} ${chunk.start} ${refused.size}`)
      .digest('hex')
    try {
      await call(client, state.type, 'createMany', { [state.type]: records, [KEY]: key }, { signal })
      return { imported: sent.length, failed }
    } catch (error) {
      const faults = error instanceof ServiceError ? [...error.faultsIn(state.type)] : []
      if (faults.length === 0) throw error
      for (const [index, fault] of faults) state.refused.push([sent[index] as number, fault])
      save()
    }
  }
}

function report(failed: FailedRow[], before: number): void {
  for (const [n, { row, reason }] of failed.entries()) {
    if (before + n < MOST_TOLD) tell(`line ${row.line}: ${reason}`)
    if (before + n === MOST_TOLD) tell('further failed rows are only written to the file')
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
