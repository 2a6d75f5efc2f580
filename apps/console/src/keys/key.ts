import type { Output } from '@resource/client'
import { contract } from '@resource/contract'
import { useQuery } from '@tanstack/react-query'
import { client } from '../client.ts'
import { resources } from '../resources/index.ts'

const LIMIT = 1000

export type Key = Output<'keys', 'get'>
/** A key with its secret, which the service shows once. */
export type NewKey = Output<'keys', 'create'>

/** The keys, the newest first. */
export function useKeys() {
  return useQuery({
    queryKey: ['keys', 'list'],
    queryFn: ({ signal }) => client.keys.list.query({ sort: 'id_desc', limit: LIMIT }, { signal }),
  })
}

/** Whether a key was revoked or has expired. */
export function endOf({ revoked_at, expires_at }: Key): 'revoked' | 'expired' | undefined {
  if (revoked_at !== null) return 'revoked'
  return expires_at !== null && Date.parse(expires_at) <= Date.now() ? 'expired' : undefined
}

/** A first request with a key, by language. */
export function firstRequests(key: string): Record<string, string> {
  const url = window.location.origin
  const noun = resources[0]?.noun ?? 'items'
  const { path } = contract[noun].procedures.list.meta.openapi
  return {
    cURL: `curl '${url}${path}' \\\n  -H 'Authorization: Bearer ${key}'`,
    TypeScript: `import { createClient } from '@resource/client'

const client = createClient({ baseUrl: '${url}', apiKey: '${key}' })
console.log(await client.${noun}.list.query({ limit: 10 }))`,
    Python: `import json
from urllib.request import Request, urlopen

request = Request('${url}${path}', headers={'Authorization': 'Bearer ${key}'})
print(json.load(urlopen(request)))`,
  }
}
