import { contract } from '@resource/contract'
import { useQueries } from '@tanstack/react-query'
import { create } from 'zustand'
import { persist } from 'zustand/middleware'
import { resources } from '../resources/index.ts'
import { summariesOf } from '../resources/summaries.ts'
import { useSession } from '../session/session.ts'
import { useAllows } from '../table/permissions.ts'

interface Progress {
  /** `begun` once this browser has shown the steps, for a service without records; `over` when they are done or hidden. */
  state: 'new' | 'begun' | 'over'
  /** The group of the requests that loaded the sample data; absent without them. */
  samples?: string | undefined
  /** Whether a request of another program has arrived. */
  isRequested: boolean
}

/** How far this browser's user is with the first steps. */
export const useProgress = create(
  persist<Progress>(() => ({ state: 'new', isRequested: false }), { name: 'console-first-run' }),
)

/** Whether the first steps show in place of the overview; undefined until it is known. */
export function useFirstRun(): boolean | undefined {
  const state = useProgress(({ state }) => state)
  const { session } = useSession()
  const isAdmin = useAllows(contract.keys.procedures.create)
  const sizes = useSizes()
  if (state === 'over') return false
  if (session === undefined) return undefined
  if (!isAdmin) return false
  if (state === 'begun') return true
  if (sizes.includes(undefined)) return undefined
  return sizes.every((size) => size === 0)
}

/** The number of records of each noun: undefined until it is known, null if it cannot be read. */
function useSizes() {
  const queries = useQueries({ queries: resources.map(({ noun }) => summariesOf(noun, {})) })
  return queries.map(({ data, error }) => (error === null ? data?.summaries[0]?.count : null))
}
