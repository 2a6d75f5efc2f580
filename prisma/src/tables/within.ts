import type { Where } from './types.ts'

/** Conditions that hold in addition to those of a column: those of a scope. Copies by spread keep them. */
const SCOPE = Symbol('scope')

/**
 * The conditions, for rows of a scope only.
 *
 * @param scope what decides which rows exist, whatever `where` says of the same columns
 */
export function within<Row>(where: Where<Row>, scope: Where<Row>): Where<Row> {
  // As conditions of their columns, those of the scope also choose the index.
  return Object.assign({ ...scope, ...where }, { [SCOPE]: scope })
}

/** The scope of conditions; undefined without one. */
export function scopeIn<Row>(where: Where<Row> & { [SCOPE]?: Where<Row> }): Where<Row> | undefined {
  return where[SCOPE]
}
