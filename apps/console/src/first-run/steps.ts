import { API_SUBJECT } from '@resource/contract'
import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { client, writer } from '../client.ts'
import { queryClient } from '../query-client.ts'
import { LONG_TIMEOUTS, newGroup } from '../resources/calls.ts'
import { resources } from '../resources/index.ts'
import { logIn } from '../session/session.ts'
import { useFeed } from '../table/live.ts'
import { formatCount } from '../ui/format.ts'
import { useProgress } from './progress.ts'

// The changes of a write of this page may arrive after its answer.
const LATE_MS = 2_000
// Without a comma before `and`.
const words = new Intl.ListFormat('en-GB')

let ownUntilMs = 0

/** Creates the first key of the service, shows it, and logs in with it. */
export async function createFirstKey(show: (key: string) => void): Promise<void> {
  const { key } = await writer.keys.create.mutate({ name: 'administrator', role: 'admin' })
  show(key)
  const refusal = await logIn(key)
  if (refusal !== undefined) throw new Error(refusal)
}

/** The sample data: whether it is loaded, and what loads and removes it. */
export function useSamples() {
  const group = useProgress(({ samples }) => samples)
  const write = async (work: () => Promise<string | undefined>) => {
    ownUntilMs = Number.POSITIVE_INFINITY
    try {
      useProgress.setState({ samples: await work() })
    } finally {
      ownUntilMs = performance.now() + LATE_MS
      await queryClient.invalidateQueries()
    }
  }
  return {
    isLoaded: group !== undefined,
    load: () => write(loadSamples),
    remove: () =>
      write(async () => {
        if (group !== undefined) await writer.undo({ group }, LONG_TIMEOUTS)
        return undefined
      }),
  }
}

/** The samples in words: `200 users, 300 books and 1,000 items`. */
export function useSampleText(): string {
  const { data } = useQuery({
    queryKey: ['sample text'],
    queryFn: async () => {
      const { collections, sampleCount } = await import('@resource/contract/samples')
      const filled = resources.filter(({ noun }) => collections.includes(noun))
      return words.format(filled.map((resource) => formatCount(sampleCount(resource.noun), resource)))
    },
    networkMode: 'always',
    staleTime: Number.POSITIVE_INFINITY,
  })
  return data ?? API_SUBJECT
}

/** Notes that another program has written a record, which completes the last step. */
export function useArrival(): void {
  useEffect(() => void useProgress.setState(({ state }) => ({ state: state === 'new' ? 'begun' : state })), [])
  useFeed((changes) => {
    if (changes.length > 0 && performance.now() >= ownUntilMs) useProgress.setState({ isRequested: true })
  })
}

/** Writes the sample data, all requests of it with one group, so that they can be undone together. */
async function loadSamples(): Promise<string> {
  const { fill } = await import('@resource/contract/samples')
  const group = newGroup()
  const refusals: string[] = []
  for await (const { noun, created, refusal } of fill(client, { addsToExisting: true, options: { group } })) {
    if (created) useProgress.setState({ samples: group })
    if (refusal !== undefined) refusals.push(`${noun}: ${refusal}`)
  }
  if (refusals.length > 0) throw new Error(refusals.join('; '))
  return group
}
