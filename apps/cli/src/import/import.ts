import { resolve } from 'node:path'
import {
  chunks,
  groupOf,
  type Mode,
  type RemainingRow,
  rowReader,
  sendChunk,
  sourceRows,
  type Target,
  targetOf,
} from '@resource/import'
import type { Outcome } from '../exit-codes.ts'
import { Failure, invalid, toFailure } from '../failures.ts'
import { SECOND_MS } from '../globals.ts'
import { onInterrupt } from '../interrupt.ts'
import { jsonFile } from '../json-file.ts'
import { callerOf, openClient } from '../open-client.ts'
import { log } from '../output.ts'
import { answer } from '../print-records.ts'
import { call } from '../procedures.ts'
import { progress } from '../progress.ts'
import { showUndo, withUndo } from '../undo-hint.ts'
import { layoutOf } from './layout.ts'
import { chooseMode } from './mode.ts'
import { openRemainingFile } from './remaining-file.ts'
import { openSource } from './source.ts'
import { checkInFlight, claim, remember, startOrResume } from './start.ts'
import type { GivenOptions, ImportOptions, ImportState } from './state.ts'
import { waitFor } from './wait.ts'

const MAX_REPORTED = 20
const REFUSALS: Outcome[] = ['denied', 'invalid', 'conflict', 'not_found']
const RESUME_HINT = 'Run the same command to resume.'

/**
 * Sends the rows of a file in chunks, each with its own idempotency key, and saves the progress next to the file. A
 * resumed run repeats the chunk in flight with the same key, so every row is stored exactly once.
 *
 * @param file path, or `-` for stdin; an import from stdin cannot be resumed
 * @throws Failure `partial` when rows failed, `interrupted` when stopped
 */
export async function importFile(file: string, given: GivenOptions): Promise<void> {
  const { type, format } = given
  const isStdin = file === '-'
  const source = await openSource(file)
  const stateFile = isStdin ? undefined : jsonFile<ImportState>(`${resolve(file)}.progress`)
  const saved = given.restart ? undefined : stateFile?.read()
  const target = targetOf(type)
  const mode = given.mode ?? saved?.mode ?? (await chooseMode(file, source.sample, given, target))
  const options: ImportOptions = { ...given, mode }
  checkMode(target, mode)
  const state = await startOrResume(file, options, stateFile, () => layoutOf(source.sample, options, target))
  const { layout } = state
  const remaining = await openRemainingFile(
    isStdin ? 'stdin' : resolve(file),
    format,
    layout.delimiter,
    state.remaining,
    state.failedBytes,
  )
  state.failedBytes = remaining.written.bytes
  const read = () => sourceRows(source.text(), format, layout.delimiter)
  const toRow = rowReader(target, layout, format)
  async function* rows() {
    for await (const row of read()) yield toRow(row)
  }
  const total = isStdin ? undefined : await count(read())
  // sendChunk retries: it must see each failed attempt.
  await using open = await openClient(options, { retryForMs: 0 })
  const caller = callerOf(options)
  checkInFlight(state, caller)
  // Under the idempotency keys of the other process, no row is stored twice.
  const isNew = saved === undefined
  if (isNew && stateFile && !given.restart && !claim(file, options, state, stateFile)) return importFile(file, given)
  using interrupt = onInterrupt()
  const bar = progress('imported', total, state.rows)
  const save = () => stateFile?.write({ ...state, remaining: remaining.written })
  const written = () => (state.created + state.updated > 0 ? { group: groupOf(state.importId) } : {})
  const sender = {
    ...{ noun: type, mode, importId: state.importId, digest: state.digest, caller, progress: state, save },
    canUpdate: target.changed !== undefined,
    call: (verb: string, input: Record<string, unknown>, options: { group: string }) =>
      call(open.client, type, verb, input, { ...options, signal: interrupt.signal }),
    wait: waitFor(options.wait * SECOND_MS, interrupt.stop),
  }
  if (isNew) remaining.setAside()
  else if (state.remaining.bytes > state.failedBytes) {
    // In this order, a run that is killed in between leaves no file that is shorter than the state says.
    save()
    remaining.truncate()
  }
  const reported: Reported[] = []
  let stop: Failure | undefined
  let unsent = 0

  try {
    for await (const chunk of chunks(rows(), state.chunkSize)) {
      if (chunk.start < state.rows) continue
      if (interrupt.requested) stop ??= new Failure('interrupted', '')
      if (interrupt.signal.aborted) break
      if (stop !== undefined) {
        remaining.add(chunk.rows.map((row) => ({ row, reason: '' })))
        unsent += chunk.rows.length
        continue
      }
      try {
        const { failed, next } = await sendChunk(sender, chunk)
        report(failed, reported)
        remaining.add(failed)
        state.failedBytes = remaining.written.bytes
        state.failed += failed.length
        Object.assign(state, next)
        bar.update(state.rows)
      } catch (error) {
        const { outcome, message } = toFailure(error, options)
        stop = new Failure(interrupt.requested ? 'interrupted' : outcome, `${prefixOf(outcome)}${message}`)
        const reason = state.inFlight > 0 ? 'may have been imported: the service did not answer' : ''
        remaining.add(chunk.rows.map((row) => ({ row, reason })))
        unsent += chunk.rows.length
      }
    }
  } catch (error) {
    // A file was checked before its first chunk; stdin may turn out to be invalid after some.
    if (stop === undefined && state.rows === 0) throw error
    const { outcome, message } = toFailure(error, options)
    stop = new Failure(stop?.outcome ?? outcome, [...new Set([stop?.message, message])].filter(Boolean).join('\n'))
  }
  bar.end(state.rows)
  if (stop !== undefined && state.rows !== total) {
    if (unsent > 0) remaining.truncate()
    save()
    throw withUndo(stopped(stop, state, stateFile !== undefined, unsent, remaining.path), written())
  }
  remaining.truncate()
  // In this order, another process finds one of the two.
  remember(file, options, state)
  stateFile?.remove()
  const { created, updated, unchanged, failed } = state
  const sum = mode.action === 'create' ? { imported: created, failed } : { created, updated, unchanged, failed }
  const text =
    mode.action === 'create'
      ? `${created} ${type} imported`
      : `${created} ${type} created, ${updated} updated, ${unchanged} unchanged`
  await answer(sum, options, () => `${text}, ${failed} failed\n`)
  if (failed > 0) {
    const message = `The failed rows are in ${remaining.path}`
    throw withUndo(new Failure('partial', message, { remaining: remaining.path, rows: reported }), written())
  }
  showUndo(written())
}

function stopped(
  { outcome, message }: Failure,
  { rows, created, updated, unchanged, failed }: ImportState,
  canResume: boolean,
  unsent: number,
  path: string,
): Failure {
  const stored = created + updated + unchanged
  const lines = [
    ...(message === '' ? [] : [message]),
    `Stopped after row ${rows}. ${canResume ? RESUME_HINT : `${stored} rows were stored.`}`,
    ...(unsent > 0 ? [`The ${unsent} rows that were not sent are in ${path}`] : []),
    ...(unsent === 0 && failed > 0 ? [`The ${failed} failed rows are in ${path}`] : []),
  ]
  return new Failure(outcome === 'invalid' && stored > 0 ? 'partial' : outcome, lines.join('\n'), {
    rows,
    stored,
    unsent,
    ...(unsent + failed > 0 && { remaining: path }),
  })
}

function prefixOf(outcome: Outcome): string {
  return outcome === 'unavailable' ? 'Service unreachable: ' : REFUSALS.includes(outcome) ? 'Refused: ' : ''
}

/** @throws Failure if the collection has no such import */
function checkMode({ noun, created, changed, keys }: Target, { action, key }: Mode): void {
  if ((action === 'create' ? created : changed) === undefined)
    throw invalid(`--type: ${noun} cannot be ${action === 'create' ? 'created' : 'updated'} in bulk`)
  if (action !== 'create' && !keys.includes(key)) throw invalid(`--upsert: must be one of: ${keys.join(', ')}`)
}

/** A failed row; with its number in a JSON file, which often has one line. */
interface Reported {
  record?: number
  line: number
  message: string
}

function report(failed: RemainingRow[], reported: Reported[]): void {
  for (const { row, reason } of failed) {
    const { line, element: record } = row
    if (reported.length < MAX_REPORTED) log(`${record === undefined ? `line ${line}` : `record ${record}`}: ${reason}`)
    if (reported.length === MAX_REPORTED) log('Further failed rows are written to the file only')
    if (reported.length <= MAX_REPORTED)
      reported.push({ ...(record !== undefined && { record }), line, message: reason })
  }
}

async function count(rows: AsyncIterable<unknown>): Promise<number> {
  let total = 0
  for await (const _ of rows) total++
  return total
}
