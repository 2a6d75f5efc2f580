import { groupOf } from '@resource/import'
import type { Resource } from '../resources/resource.ts'
import { addEdit } from '../table/history.ts'
import type { Import, Progress } from './running.ts'
import { forget, remember, type Saved } from './saved.ts'

/** Whether each row of an import has an outcome. Without its rows, it needs its file again. */
export function isOver({ rows }: Import, progress: Progress): boolean {
  return rows.length > 0 && progress.rows >= rows.length
}

/** Offers to undo an import. Failed rows are kept until the user has seen them. */
export async function finishImport(resource: Resource, running: Import, progress: Progress): Promise<void> {
  await offerUndo(resource, running, progress)
  await rememberFile(running, progress)
  if (progress.failed.length === 0) await forget(running)
}

/** Forgets an import whose rest the user does not want. */
export async function discardImport(resource: Resource, { running, progress }: Saved): Promise<void> {
  const { created, updated, inFlight } = progress
  // Its rows are stored: to import the file again would double them.
  if (created + updated + inFlight > 0) await rememberFile(running, progress)
  if (!isOver(running, progress)) await offerUndo(resource, running, progress)
  await forget(running)
}

function offerUndo(resource: Resource, running: Import, { created, updated }: Progress): Promise<void> {
  const written = { request: { group: groupOf(running.id) }, changes: [], count: created + updated }
  return addEdit(resource, 'imported', [], Promise.resolve(written))()
}

function rememberFile({ noun, file }: Import, { created, updated, unchanged }: Progress): Promise<void> {
  return remember(noun, { digest: file.digest, at: Date.now(), created, updated: updated + unchanged })
}
