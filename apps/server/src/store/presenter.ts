import { timestamp } from '@resource/database'
import type { z } from 'zod'

/** Presents rows with only the fields of the contract: the hash of a key is not one of them. */
export function presenter<Schema extends z.ZodObject>({ shape }: Schema) {
  const shown = Object.keys(shape) as (keyof z.output<Schema>)[]
  return (row: { [Field in keyof z.output<Schema>]?: unknown }): z.output<Schema> => {
    const fields = shown.map((field) => [field, row[field] instanceof Date ? timestamp(row[field]) : row[field]])
    return Object.fromEntries(fields)
  }
}
