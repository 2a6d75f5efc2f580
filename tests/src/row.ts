/** One thing that was measured, beside what it must be. */
export interface Figure {
  what: string
  required: string
  seen: string
  isReached: boolean
}

/** A row of what must be seen: one file in rows/. */
export interface Row {
  /** As `pnpm test:torture NAME` takes it. */
  name: string
  title: string
  /** What was done, for the report: a sentence or two. */
  how: string
  /** @param tell is told what is being done */
  run: (tell: (line: string) => void) => Promise<Figure[]>
}

export function none(what: string, count: number): Figure {
  return { what, required: '0', seen: String(count), isReached: count === 0 }
}

export function atMost(what: string, value: number, bound: number, unit: string): Figure {
  return { what, required: `at most ${bound} ${unit}`, seen: `${rounded(value)} ${unit}`, isReached: value <= bound }
}

export function atLeast(what: string, value: number, bound: number, unit: string): Figure {
  return { what, required: `at least ${bound} ${unit}`, seen: `${rounded(value)} ${unit}`, isReached: value >= bound }
}

export function holds(what: string, isSo: boolean, seen = isSo ? 'yes' : 'no'): Figure {
  return { what, required: 'yes', seen, isReached: isSo }
}

/** What is told without being required. */
export function told(what: string, seen: string): Figure {
  return { what, required: '', seen, isReached: true }
}

export function rounded(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: value < 100 ? 2 : 0 })
}
