import type { Action, Row } from '../resources/resource.ts'

/** A write that met a record other than the one its writer had seen. */
export interface Conflict {
  action: Action
  /** As its writer saw it. */
  row: Row
  /** As it is stored now. */
  stored: Row
}
