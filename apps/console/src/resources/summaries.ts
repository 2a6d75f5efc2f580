import { queryOptions, useQuery } from '@tanstack/react-query'
import { calls, type Summary, summarizeAlone } from './calls.ts'
import type { Noun } from './resource.ts'

/** The query of the summaries of a noun; without a field to group by, of all its records. */
export function summariesOf(noun: Noun, input: object) {
  return queryOptions<{ summaries: Summary[]; as_of: string }>({
    queryKey: [noun, 'summaries', input],
    queryFn: ({ signal }) =>
      Object.keys(input).length === 0
        ? summarizeAlone(noun, { signal })
        : calls(noun).summarize.query(input, { signal }),
  })
}

/** The summaries of a noun. */
export function useSummaries(noun: Noun, input: object) {
  return useQuery(summariesOf(noun, input))
}
