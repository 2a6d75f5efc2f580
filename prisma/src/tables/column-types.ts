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

const LARGEST_INT = 2 ** 31

/** Whether PostgreSQL would not accept a bound as an `int`. */
export function isBeyondInt(bound: unknown): bound is number {
  return typeof bound === 'number' && !(Number.isInteger(bound) && Math.abs(bound) < LARGEST_INT)
}

/** A whole bound that the same integers satisfy. */
export function wholeBound(key: string, bound: number): number {
  const whole = key === 'gte' || key === 'lt' ? Math.ceil(bound) : Math.floor(bound)
  return Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, whole))
}
