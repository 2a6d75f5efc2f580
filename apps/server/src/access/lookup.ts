/** The values that one query looks up. */
const MAX_PER_QUERY = 100

/**
 * Looks up rows by the values of a unique column, one query at a time, which contains all values that are waiting.
 *
 * @param find the rows with these values
 */
export function createLookup<Column extends string, Value extends string | number, Row extends Record<Column, Value>>(
  find: (values: Value[]) => Promise<Row[]>,
  column: Column,
) {
  const waiting = new Map<Value, PromiseWithResolvers<Row | undefined>>()
  let isRunning = false
  const run = async () => {
    isRunning = true
    while (waiting.size > 0) {
      const batch = new Map([...waiting].slice(0, MAX_PER_QUERY))
      for (const value of batch.keys()) waiting.delete(value)
      try {
        const rows = await find([...batch.keys()])
        for (const [value, { resolve }] of batch) resolve(rows.find((row) => row[column] === value))
      } catch (error) {
        for (const { reject } of batch.values()) reject(error)
      }
    }
    isRunning = false
  }
  return (value: Value): Promise<Row | undefined> => {
    let lookup = waiting.get(value)
    if (lookup === undefined) {
      lookup = Promise.withResolvers<Row | undefined>()
      waiting.set(value, lookup)
      if (!isRunning) void run()
    }
    return lookup.promise
  }
}
