/**
 * The columns that an import adds to its file of remaining rows, after the columns of the data. An import ignores them,
 * so that the corrected file can be imported.
 */

/** The line of the imported file on which the row begins. */
export const IMPORT_LINE = 'import_line'

/** Why the row was rejected; empty for a row that was not sent. */
export const IMPORT_ERROR = 'import_error'
