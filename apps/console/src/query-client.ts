import { QueryClient } from '@tanstack/react-query'

/** The query cache. The typed client retries failed calls, so queries do not retry. */
export const queryClient = new QueryClient({ defaultOptions: { queries: { retry: false, staleTime: 5_000 } } })
