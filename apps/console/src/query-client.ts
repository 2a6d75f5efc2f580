import { QueryClient } from '@tanstack/react-query'
import { isOutage } from './ui/format.ts'

const OUTAGE_RETRY_MS = 5_000

/**
 * The query cache. The typed client retries failed calls, so queries do not retry; after an outage, the queries on the
 * page load again by themselves.
 */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      retry: false,
      staleTime: 5_000,
      refetchInterval: ({ state }) => (isOutage(state.error) ? OUTAGE_RETRY_MS : false),
    },
  },
})
