import { Bot, ChevronDown, Undo2, UserRound } from 'lucide-react'
import { Fragment } from 'react'
import { Link } from 'wouter'
import { Difference } from '../changes/Changes.tsx'
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
const day = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short' })
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
  const { name, isProgram } = whoOf(entry)
  const Icon = isProgram ? Bot : UserRound
  const isOne = total === 1
  const text = `${name} ${verbOf(entry)} ${isOne ? recordName(entry) : countsOf(line)}`
  const isUndoable = entry.request_id !== null && resourceOf(entry) !== undefined && !entry.is_damaged && !isUndone
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
        <td className="name what at-name">
          <span className="soft">{verbOf(entry)}</span> {isOne ? <RecordLink entry={entry} /> : <b>{countsOf(line)}</b>}{' '}
          {isUndone && <span className="badge">undone</span>}
          {entry.is_damaged && <span className="badge danger">damaged entry</span>}
        </td>
        <td className="changed at-extra">
          {isOne ? <Differences entry={entry} /> : <span className="faint">one request</span>}
        </td>
        <td className="tight end at-figure">
          <span className="row-actions">
            {isUndoable && (
              <Button className="button ghost small faint" aria-label={`Undo: ${text}`} onPress={onUndo}>
                <Undo2 aria-hidden="true" className="i" />
                {isOne ? 'Undo' : 'Undo…'}
              </Button>
            )}
            <Button
              className="button ghost small icon faint opens-row"
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
          <td />
          <td colSpan={4}>
            <AuditDetails line={line} />
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
