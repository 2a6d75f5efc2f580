import { invalid } from './failures.ts'

/** @throws Failure that names the first option that differs from the interrupted run */
export function checkSame<State extends object>(path: string, saved: State, requested: Partial<State>): void {
  for (const [name, value] of Object.entries(requested)) {
    const before = saved[name as keyof State]
    if (JSON.stringify(before) === JSON.stringify(value)) continue
    throw invalid(
      `${path} belongs to a run with a different ${name} (${JSON.stringify(before)}, now ${JSON.stringify(value)}): ` +
        'repeat that run, or use --restart to start over',
    )
  }
}
