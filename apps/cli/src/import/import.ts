import { resolve } from 'node:path'
import { IMPORT_ERROR, IMPORT_LINE } from '@resource/contract/import-columns'
import type { z } from 'zod'
import { answer } from '../answer.ts'
import { recordFields } from '../columns.ts'
import type { Outcome } from '../exit-codes.ts'
import { Failure, invalid, toFailure } from '../failures.ts'
import { fieldsOf } from '../fields.ts'
import { openClient, SECOND_MS } from '../globals.ts'
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
import { claim, remember, startOrResume } from './start.ts'
import type { GivenOptions, ImportMode, ImportOptions, ImportState } from './state.ts'

const MAX_REPORTED = 20
// Shorter outages are not worth a message.
const QUIET_RETRY_MS = 2000
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
  const rowFormat: RowFormat = { format, schema, ignored, layout: state.layout, emptyIsNull: options.clearEmpty }
  const rows = () => readRows(source.text(), rowFormat)
  const total = isStdin ? undefined : await count(rows())
  const remaining = remainingRowsFile(
    isStdin ? 'stdin' : resolve(file),
    format,
    state.failedBytes,
    state.layout?.delimiter ?? ',',
  )
  await using open = await openClient(options, { retryForMs: QUIET_RETRY_MS })
  // Under the idempotency keys of the other process, no row is stored twice.
  const isNew = stateFile !== undefined && saved === undefined && !given.restart
  if (isNew && !claim(file, options, state, stateFile)) return importFile(file, given)
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
      const { outcome, message } = toFailure(error, options)
      stop = new Failure(interrupt.requested ? 'interrupted' : outcome, message)
      const isUncertain = outcome === 'unavailable' || outcome === 'interrupted'
      const reason = isUncertain ? 'may have been imported: the service did not answer' : ''
      remaining.add(chunk.rows.map((row) => ({ row, reason })))
      unsent += chunk.rows.length
    }
  }
  bar.end(state.rows)
  if (stop !== undefined && state.rows !== total) {
    context.save()
    throw stopped(stop, state, stateFile !== undefined, unsent, remaining.path)
  }
  // In this order, another process finds one of the two.
  remember(file, options, state)
  stateFile?.remove()
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
  const prefix = outcome === 'unavailable' ? 'Service unreachable: ' : REFUSALS.includes(outcome) ? 'Refused: ' : ''
  const lines = [
    ...(message === '' ? [] : [`${prefix}${message}`]),
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
