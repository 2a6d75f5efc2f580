import { QueryClient } from '@tanstack/react-query'

/** What the console knows of the service. The typed client repeats failed calls itself, so nothing is repeated here. */
export const queryClient = new QueryClient({ defaultOptions: { queries: { retry: false, staleTime: 5_000 } } })
