import { NotFoundError } from '@resource/client'
import { ChevronDown, Undo2 } from 'lucide-react'
import { Fragment, type ReactNode } from 'react'
import { Link } from 'wouter'
import { Difference } from '../changes/Changes.tsx'
import { ActorSign } from '../record/ActorSign.tsx'
import { Since } from '../record/HistoryEntry.tsx'
import { obstacleOf } from '../record/history.ts'
import type { Resource } from '../resources/resource.ts'
import { useRecord } from '../table/queries.ts'
import { Button } from '../ui/Button.tsx'
import { AuditDetails } from './AuditDetails.tsx'
import {
  countsOf,
  type Entry,
  type Line,
  MAX_FIELDS,
  recordName,
  resourceOf,
  shownFields,
  verbOf,
  whoOf,
} from './entries.ts'

const clock = new Intl.DateTimeFormat('sv', { timeStyle: 'medium' })
const exact = new Intl.DateTimeFormat('sv', { dateStyle: 'short', timeStyle: 'medium' })

interface Props {
  line: Line
  isFresh: boolean
  isOpen: boolean
  onToggle: () => void
  onUndo: () => void
}

/** What one request did, and its details. */
export function AuditLine({ line, isFresh, isOpen, onToggle, onUndo }: Props) {
  const { entry, total, isUndone } = line
  const name = whoOf(entry)
  const isOne = total === 1
  const verb = verbOf(line)
  const text = `${name} ${verb} ${isOne ? recordName(entry) : countsOf(line)}`
  const resource = resourceOf(entry)
  const isUndoable = entry.request_id !== null && !entry.is_damaged && !isUndone
  const undo = (
    <Button className="button ghost small faint" icon={Undo2} aria-label={`Undo: ${text}`} onPress={onUndo}>
      {isOne ? 'Undo' : 'Undo…'}
    </Button>
  )
  return (
    <>
      <tr className={[isFresh && 'live', isOpen && 'open'].filter(Boolean).join(' ') || undefined}>
        <td className="tight when moment at-when">
          <Moment at={entry.at} />
        </td>
        <td className="who at-rest" title={name}>
          <span className="status">
            <ActorSign actor={entry.actor} />
            <bdi translate="no">{name}</bdi>
          </span>
        </td>
        <td className="name what at-name">
          <span className="soft">{verb}</span> {isOne ? <RecordLink entry={entry} /> : <b>{countsOf(line)}</b>}{' '}
          {isUndone && <span className="badge">undone</span>}
          {entry.is_damaged && <span className="badge danger">damaged entry</span>}
        </td>
        <td className="changed at-extra">
          {isOne ? (
            <Differences entry={entry} />
          ) : (
            <span className="faint">{entry.group === null ? 'one request' : 'one group of requests'}</span>
          )}
        </td>
        <td className="tight end at-figure">
          <span className="row row-actions">
            {isUndoable &&
              resource !== undefined &&
              (isOne ? <IfUndoable {...{ line, resource }}>{undo}</IfUndoable> : undo)}
            <Button
              className="button ghost small icon faint opens-row"
              icon={ChevronDown}
              aria-label={`Details: ${text}`}
              aria-expanded={isOpen}
              onPress={onToggle}
            />
          </span>
        </td>
      </tr>
      {isOpen && (
        <tr className="detail-row">
          <td />
          <td colSpan={4}>
            <AuditDetails line={line} />
          </td>
        </tr>
      )}
    </>
  )
}

/** Its children, unless something stands in the way of undoing a change of one record. */
function IfUndoable({ line, resource, children }: { line: Line; resource: Resource; children: ReactNode }) {
  const { entry, newer } = line
  const { data, error } = useRecord(resource, entry.record_id, entry.after !== null)
  if (entry.after !== null && data === undefined && error === null) return null
  const obstacle = obstacleOf(resource, entry, error instanceof NotFoundError ? null : data, newer)
  return obstacle === undefined ? children : <Since {...obstacle} />
}

function RecordLink({ entry }: { entry: Entry }) {
  const resource = resourceOf(entry)
  const name = <bdi translate="no">{recordName(entry)}</bdi>
  if (resource === undefined || entry.after === null) return name
  return <Link href={`/${resource.noun}/${entry.record_id}`}>{name}</Link>
}

/** The first fields that differ, before and after, or those of a new record. */
function Differences({ entry }: { entry: Entry }) {
  if (entry.after === null) return entry.before && <span className="faint">whole record kept for undo</span>
  const resource = resourceOf(entry)
  if (entry.before === null && resource === undefined) return null
  const known = ['id', 'created_at', resource?.nameField]
  const fields = shownFields(entry).filter(({ field }) => entry.before !== null || !known.includes(field))
  return (
    <>
      {fields.slice(0, MAX_FIELDS).map((column) => (
        <Fragment key={column.field}>
          <span className="difference">
            <span className="faint">{column.label.toLowerCase()}</span> <Difference column={column} change={entry} />
          </span>{' '}
        </Fragment>
      ))}
      {fields.length > MAX_FIELDS && entry.before !== null && (
        <span className="faint">and {fields.length - MAX_FIELDS} more</span>
      )}
    </>
  )
}

/** The time of today, or the day and the minute of an earlier one. */
function Moment({ at }: { at: string }) {
  const time = new Date(at)
  const isToday = time.toDateString() === new Date().toDateString()
  return (
    <time dateTime={at} title={exact.format(time)} translate="no">
      {isToday ? clock.format(time) : exact.format(time).slice(0, -3)}
    </time>
  )
}
