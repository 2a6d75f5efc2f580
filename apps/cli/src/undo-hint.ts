import { requestIdOf } from '@resource/client'
import { Failure } from './failures.ts'
import { log, remark } from './output.ts'

/** Shows on stderr how a write can be undone. @param done its answer, or the group of its requests */
export function showUndo(done: object): void {
  const { text, facts } = undoOf(done)
  if (text !== '') remark([text], facts)
}

/** Shows how to undo what a failed write has done, and adds it to the details of the failure. */
export function withUndo({ outcome, message, details }: Failure, done: object): Failure {
  const { text, facts } = undoOf(done)
  if (text !== '') log(text)
  return new Failure(outcome, message, { ...details, ...facts })
}

function undoOf(done: object): { text: string; facts: object } {
  const request_id = requestIdOf(done)
  if (request_id !== undefined) return { text: `Undo: resource undo ${request_id}`, facts: { request_id } }
  if (!('group' in done)) return { text: '', facts: {} }
  return { text: `Undo: resource undo --group ${done.group}`, facts: { group: done.group } }
}
