import type { Kind } from './types.ts'

/** The PostgreSQL type of each kind of column. */
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
