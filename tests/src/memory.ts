import type { Usage } from './service.ts'

/** Memory usage over time: `120, 131, 130 MB`. */
export function megabytes(usages: Usage[], of: 'memory' | 'heap'): string {
  return `${usages.map((usage) => Math.round(usage[of] / 1e6)).join(', ')} MB`
}

/** Growth of the second half's peak over the value at the midpoint, in percent. */
export function growth(usages: Usage[], of: 'memory' | 'heap'): number {
  const half = Math.floor(usages.length / 2)
  const most = Math.max(...usages.slice(half).map((usage) => usage[of]))
  return (most / (usages[half] as Usage)[of] - 1) * 100
}
