import { skipToken, useQuery } from '@tanstack/react-query'
import { client } from '../client.ts'

/** A proposal, with what it would do now. @param id undefined if there is none to read */
export function useProposal(id: number | undefined) {
  return useQuery({
    queryKey: ['proposals', 'record', id],
    queryFn: id === undefined ? skipToken : ({ signal }) => client.proposals.get.query({ id }, { signal }),
  })
}
