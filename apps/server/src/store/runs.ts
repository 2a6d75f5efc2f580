/** Divides elements into runs of neighbors that belong together. */
export function runsOf<T extends object>(elements: readonly T[], belong: (one: T, next: T) => boolean): T[][] {
  const runs: T[][] = []
  let previous: T | undefined
  for (const element of elements) {
    if (previous !== undefined && belong(previous, element)) runs.at(-1)?.push(element)
    else runs.push([element])
    previous = element
  }
  return runs
}
