import { contract } from '@resource/contract'
import { useQuery } from '@tanstack/react-query'
import { client } from '../client.ts'
import type { Noun } from '../resources/resource.ts'
import { useAllows } from './permissions.ts'

/** Who made a version of a record, for roles that may read the audit log. */
export function useActor(noun: Noun, id: number, version: number): string | undefined {
  const { data } = useQuery({
    queryKey: ['actor', noun, id, version],
    queryFn: async ({ signal }) => {
      const { audit } = await client.audit.list.query({ resource: noun, record_id: id, limit: 5 }, { signal })
      const entry = audit.find(({ after }) => after?.version === version)
      return entry === undefined ? null : (entry.actor_detail ?? entry.actor)
    },
    enabled: useAllows(contract.audit.procedures.list),
    retry: false,
  })
  return data ?? undefined
}
