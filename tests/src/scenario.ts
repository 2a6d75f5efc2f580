/** One measured value and its required value. */
export interface Measurement {
  name: string
  required: string
  measured: string
  passed: boolean
}

/** One fault or overload to run against the service: one file in scenarios/, one line in README.md. */
export interface Scenario {
  /** The argument of `pnpm test:torture NAME`. */
  name: string
  /** @param log receives progress messages */
  run: (log: (line: string) => void) => Promise<Measurement[]>
}

export function expectNone(name: string, count: number): Measurement {
  return { name, required: '0', measured: String(count), passed: count === 0 }
}

export function expectAtMost(name: string, value: number, bound: number, unit: string): Measurement {
  return { name, required: `≤ ${bound} ${unit}`, measured: `${rounded(value)} ${unit}`, passed: value <= bound }
}

export function expectAtLeast(name: string, value: number, bound: number, unit: string): Measurement {
  const required = `≥ ${bound} ${unit}`.trimEnd()
  return { name, required, measured: `${rounded(value)} ${unit}`.trimEnd(), passed: value >= bound }
}

/** @param fault what was seen instead */
export function expectTrue(name: string, passed: boolean, fault = 'no'): Measurement {
  return { name, required: 'yes', measured: passed ? 'yes' : fault, passed }
}

/** A value for information only, without a requirement. */
export function report(name: string, measured: string): Measurement {
  return { name, required: '', measured, passed: true }
}

export function rounded(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: value < 100 ? 2 : 0 })
}
