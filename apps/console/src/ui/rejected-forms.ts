import { onLogOut } from './log-out.ts'

/** What a form keeps that was closed while it saved, and whose record was then rejected. */
interface Rejected {
  /** The input of the edited fields. The others follow the stored record, which may have changed meanwhile. */
  edited: Record<string, string>
  unanswered: UnansweredRequests
}

/** The requests without an answer: their idempotency keys, and who sent them. */
export type UnansweredRequests = Map<string, { key: string | undefined; caller: string | undefined }>

/** The rejected forms, by noun and id. */
export const rejectedForms = new Map<string, Rejected>()

onLogOut(() => rejectedForms.clear())
