import { type CallOptions, NotFoundError } from '@resource/client'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { calls, type Page, SHORTEST_WORD } from '../../resources/calls.ts'
import { resources } from '../../resources/index.ts'
import type { Resource, Row } from '../../resources/resource.ts'

const SHOWN = 3
const PAUSE_MS = 150

/** The records of a noun that match a text. */
export interface Found {
  resource: Resource
  rows: Row[]
  /** How many records have the words. */
  total: number
}

/** The records that a text finds, after a pause of typing, and the text that found them. */
export function useFound(text: string) {
  const [asked, setAsked] = useState('')
  useEffect(() => {
    const timer = setTimeout(() => setAsked(text), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [text])
  const { data, error, isPlaceholderData, isLoading } = useQuery({
    queryKey: ['palette', asked],
    queryFn: ({ signal }) => (asked.length > 1 || Number(asked) > 0 ? find(asked, { signal }) : []),
    placeholderData: keepPreviousData,
    gcTime: 0,
  })
  return { found: data ?? [], asked, error, isWaiting: text !== asked || isPlaceholderData || isLoading }
}

/** Finds records by id (`27`, `items 27`) or by words, an e-mail address among them. The calls are one request. */
async function find(text: string, options: CallOptions): Promise<Found[]> {
  const [, noun = '', number] = /^(?:(\p{L}+)\s+)?#?([1-9]\d{0,9})$/u.exec(text) ?? []
  const named = resources.filter(({ one, many }) => [one, many].includes(noun.toLowerCase()))
  // In `lamp 13` the number is one of the words.
  const id = noun === '' || named.length > 0 ? number : undefined
  const found = await Promise.all(
    (named.length > 0 ? named : resources).map(async (resource): Promise<Found> => {
      const isWords = named.length === 0 && resource.search !== undefined && text.length >= SHORTEST_WORD
      const [byId, page] = await Promise.all([
        id === undefined ? undefined : getIfExists(resource, Number(id), options),
        isWords ? calls(resource.noun).list.query({ q: text, limit: SHOWN, count: true }, options) : undefined,
      ])
      const { total = 0, [resource.noun]: rows = [] } = page ?? ({} as Page)
      const others = (rows as Row[]).filter((row) => row.id !== byId?.id)
      return { resource, rows: byId === undefined ? others : [byId, ...others], total }
    }),
  )
  return found.filter(({ rows }) => rows.length > 0)
}

async function getIfExists({ noun }: Resource, id: number, options: CallOptions): Promise<Row | undefined> {
  // Beyond the ids of the service.
  if (id >= 2 ** 31) return undefined
  try {
    return await calls(noun).get.query({ id }, options)
  } catch (error) {
    if (error instanceof NotFoundError) return undefined
    throw error
  }
}
