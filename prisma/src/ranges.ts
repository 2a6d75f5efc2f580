/** Reads ranges one after the other until there are as many rows as wanted. */
export async function readRanges<Row, Range>(
  ranges: readonly Range[],
  most: number,
  read: (range: Range, take: number) => Row[] | Promise<Row[]>,
): Promise<Row[]> {
  let rows: Row[] = []
  for (const range of ranges) {
    if (rows.length === most) break
    rows = rows.concat(await read(range, most - rows.length))
  }
  return rows
}
