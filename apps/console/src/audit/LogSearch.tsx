import { writable } from '@resource/contract'
import { Search } from 'lucide-react'
import { useState } from 'react'
import { isId } from '../resources/resource.ts'
import type { Filters } from './use-log.ts'

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

interface Props {
  filters: Filters
  onChange: (changes: Filters) => void
}

/** Finds a record by its id, or a request. */
export function LogSearch({ filters, onChange }: Props) {
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
      <Search />
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
  if (!isId(id) || (noun !== undefined && !(noun.toLowerCase() in writable))) return undefined
  return { record_id: id, request_id: undefined, ...(noun !== undefined && { resource: noun.toLowerCase() }) }
}
