type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> }

/** `record` without the fields that are undefined, which Prisma would read as a filter or a change of their own. */
export function defined<T extends object>(record: T): Defined<T> {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as Defined<T>
}
