/** Random choices that follow from a seed, the same ones in Node and in browsers. */
export interface Random {
  /** A number from 0 to less than 1. */
  float: () => number
  /** A whole number from `min` to `max`. */
  int: (min: number, max: number) => number
  /** A whole number from 0 to `max`; small ones are more frequent. */
  skewed: (max: number) => number
  chance: (probability: number) => boolean
  /** @throws Error for an empty list */
  pick: <T>(list: readonly T[]) => T
}

/** @param name separates the numbers of one purpose from those of another with the same seed */
export function randomOf(seed: number, name: string): Random {
  // FNV-1a, then mulberry32: https://github.com/cprosche/mulberry32
  let state = Math.imul(seed + 1, 0x9e3779b1)
  for (const character of name) state = Math.imul(state ^ character.charCodeAt(0), 0x01000193)
  const float = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const int = (min: number, max: number) => min + Math.floor(float() * (max - min + 1))
  return {
    float,
    int,
    skewed: (max) => Math.floor(float() ** 2 * (max + 1)),
    chance: (probability) => float() < probability,
    pick: <T>(list: readonly T[]): T => {
      if (list.length === 0) throw new Error('there is nothing to choose from')
      return list[int(0, list.length - 1)] as T
    },
  }
}
