import type { Kind } from './table.ts'

/** The type of PostgreSQL that a column of each kind has. */
export const columnTypes: Record<Kind, string> = {
  int: 'int',
  'int?': 'int',
  bigint: 'bigint',
  float: 'float8',
  'float?': 'float8',
  text: 'text',
  'text?': 'text',
  bool: 'boolean',
  'bool?': 'boolean',
  date: 'timestamp',
  'date?': 'timestamp',
}
