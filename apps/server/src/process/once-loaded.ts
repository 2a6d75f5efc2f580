/** Runs `make` at the first call and keeps its result. A failure is not kept: the next call tries again. */
export function remembered<Result>(make: () => Promise<Result>): () => Promise<Result> {
  let made: Promise<Result> | undefined
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined
      throw error
    })
    return made
  }
}
