import { contract, writable } from '@resource/contract'
import { ListFilter, X } from 'lucide-react'
import { useId } from 'react'
import { useKeys } from '../keys/key.ts'
import { Button } from '../ui/Button.tsx'
import { type Option, Select } from '../ui/Select.tsx'
import { type Entry, whoOf } from './entries.ts'
import { LogSearch } from './LogSearch.tsx'
import type { Filters } from './use-log.ts'

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
  const { data } = useKeys()
  const keys = data?.keys.map(({ id, name }) => [`key ${id}`, name] as const) ?? []
  const seen = entries.map((entry) => [entry.actor, whoOf(entry)] as const)
  const actors = [...new Map([['local', 'local'], ['anonymous', 'anonymous'], ...seen, ...keys])]
  const procedures = PROCEDURES.filter((name) => name.startsWith(`${filters.resource ?? ''}.`) || !filters.resource)
  return (
    <search className="row toolbar" aria-label="Filter the audit log">
      <LogSearch filters={filters} onChange={onChange} />
      <div className="row chips">
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
          options={procedures}
          onChange={(procedure) => onChange({ procedure })}
        />
        <Choice
          label="Collection"
          value={filters.resource}
          options={NOUNS}
          onChange={(resource) => onChange({ resource, procedure: undefined })}
        />
      </div>
    </search>
  )
}

interface ChoiceProps {
  label: string
  value: string | undefined
  options: readonly Option[]
  onChange: (value: string | undefined) => void
}

/** A filter of few values. One that is on is a chip with its removal. */
function Choice({ label, value = '', options, onChange }: ChoiceProps) {
  const id = useId()
  const isKnown = value === '' || options.some((option) => (typeof option === 'string' ? option : option[0]) === value)
  return (
    <span className={value === '' ? 'pick' : 'pick chip'}>
      <label className="row" htmlFor={id}>
        {value === '' && <ListFilter />}
        <span>{label}</span>
        <Select
          id={id}
          value={value}
          translate="no"
          options={[['', 'any'], ...(isKnown ? [] : [value]), ...options]}
          onChange={(value) => onChange(value || undefined)}
        />
      </label>
      {value !== '' && (
        <Button className="" icon={X} aria-label={`Remove the filter ${label}`} onPress={() => onChange(undefined)} />
      )}
    </span>
  )
}
