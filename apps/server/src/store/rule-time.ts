// On SQLite all other writes wait for the transaction of a rule.
const MAX_RULE_MS = 1_000

/** @returns the result of a rule; rejects if it takes too long, so that its transaction ends and refuses what the rule still does */
export async function inTime<T>(running: PromiseLike<T>, rule: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    const error = new Error(`${rule} has taken more than ${MAX_RULE_MS} ms: a rule must not wait for other services`)
    timer = setTimeout(() => reject(error), MAX_RULE_MS)
  })
  try {
    return await Promise.race([running, late])
  } finally {
    clearTimeout(timer)
  }
}
