import { resolve } from 'node:path'
import { IMPORT_ERROR, IMPORT_LINE } from '@resource/contract/import-columns'
import type { z } from 'zod'
import { answer } from '../answer.ts'
import { recordFields } from '../columns.ts'
import type { Outcome } from '../exit-codes.ts'
import { Failure, invalid, toFailure } from '../failures.ts'
import { fieldsOf } from '../fields.ts'
import { callerOf, openClient, SECOND_MS } from '../globals.ts'
import { onInterrupt } from '../interrupt.ts'
import { jsonFile } from '../json-file.ts'
import { log } from '../output.ts'
import { progress } from '../progress.ts'
import { ID, type Noun, proceduresOf, recordSchema } from '../service.ts'
import { layoutOf } from './layout.ts'
import { chooseMode } from './mode.ts'
import { chunks } from './rows/chunks.ts'
import { type RemainingRow, remainingRowsFile } from './rows/remaining-rows.ts'
import type { Row } from './rows/row.ts'
import { type RowFormat, readRows } from './rows/rows.ts'
import { type SendContext, sendChunk } from './send.ts'
import { openSource } from './source.ts'
import { checkCaller, claim, remember, startOrResume } from './start.ts'
import type { GivenOptions, ImportMode, ImportOptions, ImportState } from './state.ts'

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
  const mode = given.mode ?? saved?.mode ?? (await chooseMode(file, source.sample, given))
  const options: ImportOptions = { ...given, mode }
  const schema = schemaOf(type, mode)
  const ignored = [...recordFields(type), IMPORT_LINE, IMPORT_ERROR]
  const state = await startOrResume(file, options, stateFile, () => layoutOf(source.sample, options, schema, ignored))
  const remaining = await remainingRowsFile(
    isStdin ? 'stdin' : resolve(file),
    format,
    state.layout?.delimiter ?? ',',
    state.remaining,
    state.failedBytes,
  )
  state.failedBytes = remaining.written.bytes
  const rowFormat: RowFormat = { format, schema, ignored, layout: state.layout, emptyIsNull: options.clearEmpty }
  const rows = () => readRows(source.text(), rowFormat)
  const total = isStdin ? undefined : await count(rows())
  // sendChunk retries: it must see each failed attempt.
  await using open = await openClient(options, { retryForMs: 0 })
  const caller = callerOf(options)
  checkCaller(state, caller)
  // Under the idempotency keys of the other process, no row is stored twice.
  const isNew = saved === undefined
  if (isNew && stateFile && !given.restart && !claim(file, options, state, stateFile)) return importFile(file, given)
  using interrupt = onInterrupt()
  const bar = progress('imported', total, state.rows)
  const context: SendContext = {
    client: open.client,
    caller,
    state,
    save: () => stateFile?.write({ ...state, remaining: remaining.written }),
    interrupt,
    waitMs: options.wait * SECOND_MS,
  }
  if (isNew) remaining.setAside()
  else if (state.remaining.bytes > state.failedBytes) {
    // In this order, a run that is killed in between leaves no file that is shorter than the state says.
    context.save()
    remaining.truncate()
  }
  const reported: { line: number; message: string }[] = []
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
        const done = await sendChunk(context, chunk)
        report(done.failed, reported)
        remaining.add(done.failed)
        state.failedBytes = remaining.written.bytes
        state.failed += done.failed.length
        state.created += done.created
        state.updated += done.updated
        state.unchanged += done.unchanged
        Object.assign(state, { rows: chunk.start + chunk.rows.length, inFlight: false, refused: [] })
        bar.update(state.rows)
      } catch (error) {
        const { outcome, message } = toFailure(error, options)
        stop = new Failure(interrupt.requested ? 'interrupted' : outcome, `${prefixOf(outcome)}${message}`)
        const reason = state.inFlight ? 'may have been imported: the service did not answer' : ''
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
    context.save()
    throw stopped(stop, state, stateFile !== undefined, unsent, remaining.path)
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
    throw new Failure('partial', `The failed rows are in ${remaining.path}`, {
      remaining: remaining.path,
      rows: reported,
    })
  }
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
