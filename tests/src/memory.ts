import type { Usage } from './service.ts'

/** What a process held, time after time, in words: `120, 131, 130 MB`. */
export function megabytes(usages: Usage[], of: 'memory' | 'heap'): string {
  return `${usages.map((usage) => Math.round(usage[of] / 1e6)).join(', ')} MB`
}

/**
 * By how much the most of the second half is above the most until half-way, in percent. What is resident goes up and
 * down by tens of megabytes with V8's young generation: one moment says little.
 */
export function growth(usages: Usage[], of: 'memory' | 'heap'): number {
  const half = Math.floor(usages.length / 2)
  const most = (some: Usage[]) => Math.max(...some.map((usage) => usage[of]))
  return (most(usages.slice(half + 1)) / most(usages.slice(0, half + 1)) - 1) * 100
}
