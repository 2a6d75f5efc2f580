import type { Action, Row } from '../resources/resource.ts'

/** A write to a record that changed since the user read it. */
export interface Conflict {
  action: Action
  /** The version that the user saw, with the earlier writes of this page. */
  row: Row
  /** The version stored now. */
  stored: Row
}
