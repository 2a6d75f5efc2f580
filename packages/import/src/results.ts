/** The outcome of one row of a write of many records. */
export interface RowResult {
  /** 200 updated, unchanged or deleted, 201 created; otherwise the status of the error. */
  status: number
  changed?: boolean
  error?: string
  fields?: { field: string; message: string }[]
}

/** The error of a row: `price: must be a number`. */
export function rowError({ error = '', fields = [] }: RowResult): string {
  return fields.length === 0 ? error : fields.map(({ field, message }) => `${field}: ${message}`).join('; ')
}
