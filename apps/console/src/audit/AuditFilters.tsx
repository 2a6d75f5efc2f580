import { contract, writable } from '@resource/contract'
import { useQuery } from '@tanstack/react-query'
import { ListFilter, Search, X } from 'lucide-react'
import { useState } from 'react'
import { client } from '../client.ts'
import { isId } from '../resources/resource.ts'
import { Button } from '../ui/Button.tsx'
import { type Entry, whoOf } from './entries.ts'

/** The filters by the name that they have in the page's URL. */
export type Filters = {
  [Name in 'when' | 'actor' | 'procedure' | 'resource' | 'record_id' | 'request_id']?: string | undefined
}

export const PERIODS: Record<string, { text: string; hours: number }> = {
  '1h': { text: 'last hour', hours: 1 },
  '24h': { text: 'last 24 hours', hours: 24 },
  '7d': { text: 'last 7 days', hours: 7 * 24 },
  '30d': { text: 'last 30 days', hours: 30 * 24 },
}

const NOUNS = Object.keys(writable)
const PROCEDURES = [...NOUNS, 'reversals'].flatMap((noun) =>
  Object.entries<{ type: string }>(contract[noun as keyof typeof writable].procedures).flatMap(([verb, { type }]) =>
    type === 'mutation' ? [`${noun}.${verb}`] : [],
  ),
)

interface Props {
  filters: Filters
  /** Those that are shown: their actors can be chosen. */
  entries: Entry[]
  onChange: (changes: Filters) => void
}

/** What the log is narrowed to: a search, and one control for each filter. */
export function AuditFilters({ filters, entries, onChange }: Props) {
  const { data } = useQuery({
    queryKey: ['keys', 'list'],
    queryFn: ({ signal }) => client.keys.list.query({ sort: 'id_desc', limit: 1000 }, { signal }),
  })
  const keys = data?.keys.map(({ id, name }) => [`key ${id}`, name] as const) ?? []
  const seen = entries.map((entry) => [entry.actor, whoOf(entry).name] as const)
  const actors = [...new Map([['local', 'local'], ['anonymous', 'anonymous'], ...seen, ...keys])]
  const procedures = PROCEDURES.filter((name) => name.startsWith(`${filters.resource ?? ''}.`) || !filters.resource)
  return (
    <search className="toolbar" aria-label="Filter the audit log">
      <LogSearch filters={filters} onChange={onChange} />
      <div className="chips">
        <Choice
          label="When"
          value={filters.when}
          options={Object.entries(PERIODS).map(([value, { text }]) => [value, text])}
          onChange={(when) => onChange({ when })}
        />
        <Choice label="Who" value={filters.actor} options={actors} onChange={(actor) => onChange({ actor })} />
        <Choice
          label="What"
          value={filters.procedure}
          options={procedures.map((name) => [name, name])}
          onChange={(procedure) => onChange({ procedure })}
        />
        <Choice
          label="Collection"
          value={filters.resource}
          options={NOUNS.map((noun) => [noun, noun])}
          onChange={(resource) => onChange({ resource, procedure: undefined })}
        />
      </div>
    </search>
  )
}

interface ChoiceProps {
  label: string
  value: string | undefined
  options: (readonly [value: string, text: string])[]
  onChange: (value: string | undefined) => void
}

/** A filter of few values. One that is on is a chip with its removal. */
function Choice({ label, value = '', options, onChange }: ChoiceProps) {
  const isKnown = value === '' || options.some(([option]) => option === value)
  return (
    <span className={value === '' ? 'pick' : 'pick chip'}>
      <label>
        {value === '' && <ListFilter aria-hidden="true" className="i" />}
        <span>{label}</span>
        <select value={value} translate="no" onChange={(event) => onChange(event.target.value || undefined)}>
          <option value="">any</option>
          {(isKnown ? options : [[value, value] as const, ...options]).map(([option, text]) => (
            <option key={option} value={option}>
              {text}
            </option>
          ))}
        </select>
      </label>
      {value !== '' && (
        <Button className="" aria-label={`Remove the filter ${label}`} onPress={() => onChange(undefined)}>
          <X aria-hidden="true" className="i" />
        </Button>
      )}
    </span>
  )
}

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

/** Finds a record by its id, or a request. */
function LogSearch({ filters, onChange }: Omit<Props, 'entries'>) {
  const shown = searchText(filters)
  const [known, setKnown] = useState(shown)
  const [text, setText] = useState(shown)
  const [isRefused, setRefused] = useState(false)
  // A link or another filter has changed it.
  if (known !== shown) {
    setKnown(shown)
    setText(shown)
  }
  const commit = () => {
    const found = parsed(text.trim())
    setRefused(found === undefined)
    if (found !== undefined && text.trim() !== shown) onChange(found)
  }
  return (
    <div className="search">
      <Search aria-hidden="true" className="i" />
      <input
        type="search"
        translate="no"
        placeholder="Record or request"
        aria-label="Record or request"
        aria-invalid={isRefused}
        aria-describedby="log-search"
        value={text}
        onChange={(event) => {
          setText(event.target.value)
          setRefused(false)
        }}
        onBlur={commit}
        onKeyDown={(event) => event.key === 'Enter' && commit()}
      />
      <span id="log-search" role="status" className="field-error">
        {isRefused && 'Must be an ID such as 27, a record such as items 27, or the ID of a request'}
      </span>
    </div>
  )
}

function searchText({ request_id, record_id, resource }: Filters): string {
  if (request_id !== undefined) return request_id
  if (record_id === undefined) return ''
  return resource === undefined ? record_id : `${resource} ${record_id}`
}

/** The filters that a search stands for; undefined for none. */
function parsed(text: string): Filters | undefined {
  if (text === '') return { request_id: undefined, record_id: undefined }
  if (UUID.test(text)) return { request_id: text.toLowerCase(), record_id: undefined }
  const [, noun, id] = /^(?:([a-z]+)[ /])?(\d+)$/i.exec(text) ?? []
  if (!isId(id) || (noun !== undefined && !NOUNS.includes(noun.toLowerCase()))) return undefined
  return { record_id: id, request_id: undefined, ...(noun !== undefined && { resource: noun.toLowerCase() }) }
}
