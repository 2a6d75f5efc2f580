/** Reproducible randomness: the same seed gives the same choices. */
export interface Random {
  /** From 0 (included) to 1 (excluded). */
  next: () => number
  /** An integer from `min` to `max`, both included. */
  int: (min: number, max: number) => number
  /** True with a probability of 1 in `n`. */
  oneIn: (n: number) => boolean
  pick: <T>(from: readonly T[]) => T
}

/** Mulberry32: small, fast and random enough for the choice of test cases. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let bits = Math.imul(state ^ (state >>> 15), state | 1)
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61)
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32
  }
  const int = (min: number, max: number) => min + Math.floor(next() * (max - min + 1))
  return {
    next,
    int,
    oneIn: (n) => int(1, n) === 1,
    pick: <T>(from: readonly T[]) => from[int(0, from.length - 1)] as T,
  }
}

/** `FUZZ_SEED` if set, else the default seed. */
export function seedOfRun(): number {
  return Number(process.env.FUZZ_SEED ?? 20_260_101)
}
