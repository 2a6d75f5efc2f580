import { useQuery } from '@tanstack/react-query'
import { Bot, ChevronDown, Undo2, UserRound } from 'lucide-react'
import { Fragment } from 'react'
import { Link } from 'wouter'
import { Difference } from '../changes/Changes.tsx'
import { client } from '../client.ts'
import { Button } from '../ui/Button.tsx'
import { AuditDetails } from './AuditDetails.tsx'
import { countsOf, type Entry, type Line, recordName, resourceOf, shownFields, verbOf, whoOf } from './entries.ts'

const MAX_FIELDS = 3
const clock = new Intl.DateTimeFormat('sv', { timeStyle: 'medium' })
const day = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short' })
const exact = new Intl.DateTimeFormat('sv', { dateStyle: 'short', timeStyle: 'medium' })

interface Props {
  line: Line
  isFresh: boolean
  isOpen: boolean
  /** Whether the next page may have more entries of the request. */
  mayHaveMore: boolean
  onToggle: () => void
  onUndo: () => void
}

/** What one request did, and its details. */
export function AuditLine({ line, isFresh, isOpen, mayHaveMore, onToggle, onUndo }: Props) {
  const { entry, entries, isUndone } = line
  const { request_id } = entry
  const { data: total = entries.length } = useQuery({
    queryKey: ['audit', 'count', request_id],
    queryFn: async ({ signal }) => {
      const input = { request_id: request_id ?? '', count: true, limit: 1 }
      return (await client.audit.list.query(input, { signal })).total
    },
    enabled: mayHaveMore && request_id !== null,
  })
  const { name, isProgram } = whoOf(entry)
  const Icon = isProgram ? Bot : UserRound
  const isOne = total === 1
  const text = `${name} ${verbOf(entry)} ${isOne ? recordName(entry) : countsOf(entries, total)}`
  const isUndoable = request_id !== null && resourceOf(entry) !== undefined && !entry.is_damaged && !isUndone
  const undo = (className: string) =>
    isUndoable && (
      <Button className={className} aria-label={`Undo: ${text}`} onPress={onUndo}>
        <Undo2 aria-hidden="true" className="i" />
        Undo
      </Button>
    )
  return (
    <>
      <tr className={[isFresh && 'live', isOpen && 'open'].filter(Boolean).join(' ') || undefined}>
        <td className="tight when at-when">
          <Moment at={entry.at} />
        </td>
        <td className="who at-rest" title={`${name}, ${isProgram ? 'a program' : 'in the console'}`}>
          <span className="status">
            <Icon aria-hidden="true" className="i" />
            <bdi translate="no">{name}</bdi>
          </span>
        </td>
        <td className="name at-name">
          <span className="soft">{verbOf(entry)}</span>{' '}
          {isOne ? <RecordLink entry={entry} /> : countsOf(entries, total)}{' '}
          {isUndone && <span className="badge">undone</span>}
          {entry.is_damaged && <span className="badge danger">damaged entry</span>}
        </td>
        <td className="changed at-extra">
          {isOne ? <Differences entry={entry} /> : <span className="faint">one request</span>}
        </td>
        <td className="tight end at-figure">
          <span className="row-actions">
            {isOne && undo('button ghost small faint')}
            <Button
              className="button ghost small icon faint"
              aria-label={`Details: ${text}`}
              aria-expanded={isOpen}
              onPress={onToggle}
            >
              <ChevronDown aria-hidden="true" className="i" />
            </Button>
          </span>
        </td>
      </tr>
      {isOpen && (
        <tr className="detail-row">
          <td colSpan={5}>
            <AuditDetails line={line} total={total} />
            {!isOne && undo('button small')}
          </td>
        </tr>
      )}
    </>
  )
}

function RecordLink({ entry }: { entry: Entry }) {
  const resource = resourceOf(entry)
  const name = <bdi translate="no">{recordName(entry)}</bdi>
  if (resource === undefined || entry.after === null) return name
  return <Link href={`/${resource.noun}/${entry.record_id}`}>{name}</Link>
}

/** The first fields that differ, before and after. */
function Differences({ entry }: { entry: Entry }) {
  if (entry.before === null || entry.after === null) return null
  const fields = shownFields(entry)
  return (
    <>
      {fields.slice(0, MAX_FIELDS).map((column) => (
        <Fragment key={column.field}>
          <span className="difference">
            <span className="faint">{column.label.toLowerCase()}</span> <Difference column={column} change={entry} />
          </span>{' '}
        </Fragment>
      ))}
      {fields.length > MAX_FIELDS && <span className="faint">and {fields.length - MAX_FIELDS} more</span>}
    </>
  )
}

/** The time of today, or the day of an earlier one. */
function Moment({ at }: { at: string }) {
  const time = new Date(at)
  const isToday = time.toDateString() === new Date().toDateString()
  return (
    <time dateTime={at} title={exact.format(time)} translate="no">
      {isToday ? clock.format(time) : `${day.format(time)} ${clock.format(time).slice(0, 5)}`}
    </time>
  )
}
