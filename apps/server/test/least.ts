/** The least of up to ten durations in ms. It stops at the first one below the limit, because a busy machine may delay some. */
export async function leastMs(limitMs: number, measure: () => Promise<number>): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (let time = 0; time < 10 && least >= limitMs; time++) least = Math.min(least, await measure())
  return least
}
