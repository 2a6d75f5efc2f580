import { contract } from '@resource/contract'
import { useQuery } from '@tanstack/react-query'
import { client } from '../client.ts'
import type { Noun } from '../resources/resource.ts'
import { useAllows } from './permissions.ts'

/** The name of who made a change. That the console was used is said by the details alone. */
export function actorName({ actor, actor_detail }: { actor: string; actor_detail: string | null }): string {
  return (actor_detail ?? actor).replace(/ \(console\)$/, '')
}

/** Who made a version of a record, if there is one, for roles that may read the audit log. */
export function useActor(noun: Noun, id: number, version: number | undefined): string | undefined {
  const { data } = useQuery({
    queryKey: ['actor', noun, id, version],
    queryFn: async ({ signal }) => {
      const { audit } = await client.audit.list.query({ resource: noun, record_id: id, limit: 5 }, { signal })
      const entry = audit.find(({ after }) => after?.version === version)
      return entry === undefined ? null : actorName(entry)
    },
    enabled: useAllows(contract.audit.procedures.list) && version !== undefined,
    retry: false,
  })
  return data ?? undefined
}
