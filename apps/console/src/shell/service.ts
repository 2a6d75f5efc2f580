import { onlineManager, useQuery } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import { background } from '../client.ts'

const CHECK_MS = 60_000

/** What the page says of the state of the service. */
export const HEALTH = {
  healthy: { dot: '', text: 'Healthy' },
  unready: { dot: 'warning', text: 'Not ready' },
  unreachable: { dot: 'danger', text: 'Not reachable' },
  unknown: { dot: 'off', text: 'Connecting…' },
}

/** Whether the browser has a network. */
export function useIsOnline(): boolean {
  return useSyncExternalStore(
    (changed) => onlineManager.subscribe(changed),
    () => onlineManager.isOnline(),
  )
}

/** Whether the service is ready, asked once a minute. */
export function useHealth(): keyof typeof HEALTH {
  const { data = 'unknown' } = useQuery({
    queryKey: ['health'],
    queryFn: async ({ signal }) => {
      const response = await fetch('/readyz', { signal }).catch(() => undefined)
      if (response === undefined) return 'unreachable'
      return response.ok ? 'healthy' : 'unready'
    },
    refetchInterval: CHECK_MS,
  })
  return useIsOnline() ? data : 'unreachable'
}

/** The number of proposals that wait for a decision. */
export function useOpenProposals(): number | undefined {
  return useQuery({
    queryKey: ['proposals', 'open'],
    queryFn: async ({ signal }) => {
      const { total } = await background.proposals.list.query({ status: 'open', limit: 1, count: true }, { signal })
      return total ?? 0
    },
    refetchInterval: CHECK_MS,
  }).data
}
