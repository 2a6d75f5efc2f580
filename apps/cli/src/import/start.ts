import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { doubtOf, NOTHING_SENT } from '@resource/import'
import { Failure, invalid } from '../failures.ts'
import { checkSame, type jsonFile } from '../json-file.ts'
import { targetOf } from '../open-client.ts'
import { log } from '../output.ts'
import { confirm, isInteractive } from '../prompt.ts'
import { type ImportRecord, importHistory } from './history.ts'
import { digestOf } from './source.ts'
import type { FileLayout, ImportOptions, ImportState } from './state.ts'

/** The saved state of an interrupted run, or a new one. */
export async function startOrResume(
  file: string,
  options: ImportOptions,
  stateFile: ReturnType<typeof jsonFile<ImportState>> | undefined,
  layout: () => Promise<FileLayout>,
): Promise<ImportState> {
  const { type, format, mode, clearEmpty, chunkSize, restart } = options
  const url = await targetOf(options)
  const digest = await digestOf(file)
  const requested = { command: 'import' as const, type, url, format, mode, clearEmpty, digest, chunkSize }
  const saved = restart ? undefined : stateFile?.read()
  if (stateFile === undefined || saved === undefined) {
    if (!(await isWanted(file, options, digest))) throw new Failure('interrupted', 'Nothing was imported.')
    return {
      ...requested,
      layout: await layout(),
      importId: randomBytes(16).toString('hex'),
      ...structuredClone(NOTHING_SENT),
      failed: 0,
      failedBytes: 0,
      remaining: { bytes: 0, digest: '' },
    }
  }
  if (saved.digest !== digest) {
    throw invalid(
      `${file} has changed since its import stopped after row ${saved.rows}. Restore the original file to resume, ` +
        'or use --restart to start over, which imports those rows again',
    )
  }
  checkSame(stateFile.path, saved, requested)
  log(`Resuming after row ${saved.rows}`)
  return saved
}

/** @throws Failure if the service would not recognize the chunk in flight: too much time has passed, or another caller sent it */
export function checkInFlight(state: ImportState, caller: string): void {
  const doubt = doubtOf(state, caller)
  if (doubt === 'too late')
    throw couldStoreTwice(state, 'The chunk in flight was first sent more than 23 hours ago', 'Check')
  if (doubt === 'other caller')
    throw couldStoreTwice(state, 'The chunk in flight was sent with another API key', 'Resume with that key, or check')
}

function couldStoreTwice({ chunkSize, rows }: ImportState, cause: string, remedy: string): Failure {
  return invalid(
    `${cause}, so a retry could store the ${chunkSize} rows after row ${rows} twice. ${remedy} which of them are stored, ` +
      'then import the missing rows from a separate file',
  )
}

/** Whether to import a file that was imported before; only creating records again is a mistake. */
async function isWanted(file: string, options: ImportOptions, digest: string): Promise<boolean> {
  if (file === '-' || options.mode.action !== 'create') return true
  const unfinished = /^(.*)\.remaining(?:\.\d+)?\.(csv|ndjson)$/.exec(resolve(file))?.[1]
  if (unfinished !== undefined && existsSync(`${unfinished}.progress`) && !options.again) {
    throw invalid(
      `The import of ${unfinished} is not complete: resume it, or use --again to import its remaining rows from ${file}`,
    )
  }
  const before = options.again || options.restart ? undefined : historyOf(options, digest).find()
  if (before === undefined) return true
  if (options.yes || !isInteractive()) throw alreadyImported(file, options, before)
  return confirm(`${factOf(file, options, before)} Import it again?`)
}

function alreadyImported(file: string, options: ImportOptions, before: ImportRecord): Failure {
  const message = `${factOf(file, options, before)} Use --again to import it again`
  return new Failure('conflict', message, { imported: before })
}

function factOf(file: string, { type }: ImportOptions, before: ImportRecord): string {
  return `${file} was already imported on ${before.at.slice(0, 16).replace('T', ' ')} UTC, as ${before.file} (${before.imported} ${type}).`
}

/**
 * Creates the state file of a new import.
 *
 * @returns false if another process has started an import of the same file
 * @throws Failure if another process has completed one in the meantime
 */
export function claim(
  file: string,
  options: ImportOptions,
  state: ImportState,
  stateFile: ReturnType<typeof jsonFile<ImportState>>,
): boolean {
  if (!stateFile.create(state)) return false
  if (options.mode.action !== 'create' || options.again) return true
  const other = historyOf(options, state.digest).find()
  if (other === undefined || Date.parse(other.at) < performance.timeOrigin) return true
  stateFile.remove()
  throw alreadyImported(file, options, other)
}

/** Records a complete import, so that the same file is recognized. */
export function remember(file: string, options: ImportOptions, { digest, created }: ImportState): void {
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
