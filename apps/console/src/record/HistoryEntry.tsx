import { Bot, Plus, Redo2, Trash2, Undo2 } from 'lucide-react'
import { Link } from 'wouter'
import { Difference } from '../changes/Changes.tsx'
import type { Resource, Row } from '../resources/resource.ts'
import { actorName } from '../table/actor.ts'
import { Ago } from '../ui/Ago.tsx'
import { Button } from '../ui/Button.tsx'
import { changedFields, changedSince, type Entry, type Told, useActorName, useProposalOf } from './history.ts'

interface Props {
  resource: Resource
  told: Told
  /** The record as it is. */
  stored: Row | undefined
  /** Called with the request to undo. */
  onUndo: (requestId: string) => void
}

/** One change of a record: who made it, when, and what it changed. */
export function HistoryEntry({ resource, told: { entry, last, isUndone }, stored, onUndo }: Props) {
  const { at, proposed_by } = entry
  const fields = changedFields(resource, entry)
  const { data: proposal } = useProposalOf(entry)
  const proposer = useActorName(proposed_by)
  const actor = actorName(entry)
  const did = verbOf(resource, entry, fields)
  const made = isUndone ? last : entry
  const request = made?.request_id
  const since = made === undefined ? [] : changedSince(resource, made, stored)
  return (
    <li className={isUndone ? 'undone' : undefined}>
      <Sign entry={entry} />
      <p className="who">
        {proposed_by !== null && (
          <>
            <b translate="no">
              <bdi>{proposer}</bdi>
            </b>
            , applied by{' '}
          </>
        )}
        <b translate="no">
          <bdi>{actor}</bdi>
        </b>{' '}
        {proposed_by === null && did} <Ago at={at} />
      </p>
      {since.length > 0 && <ChangedSince fields={since.map(({ label }) => label.toLowerCase())} />}
      {request != null && since.length === 0 && (
        <Button
          className="small button ghost"
          aria-label={`${isUndone ? 'Redo' : 'Undo'}: ${actor} ${did}`}
          onPress={() => onUndo(request)}
        >
          {isUndone ? <Redo2 aria-hidden="true" className="i" /> : <Undo2 aria-hidden="true" className="i" />}
          {isUndone ? 'Redo' : 'Undo'}
        </Button>
      )}
      {(fields.length > 0 || last !== undefined || proposal) && (
        <dl className="diff">
          {fields.map((column) => (
            <div key={column.field}>
              <dt>{column.label.toLowerCase()}</dt>
              <dd>
                <Difference column={column} change={entry} />
              </dd>
            </div>
          ))}
          {proposal && (
            <div>
              <dt>reason</dt>
              <dd className="soft">
                <bdi>{proposal.reason}</bdi> <Link href={`/proposals/${proposal.id}`}>Proposal {proposal.id}</Link>
              </dd>
            </div>
          )}
          {last !== undefined && (
            <div>
              <dt>{isUndone ? 'undone' : 'redone'}</dt>
              <dd className="faint">
                <span>
                  by <bdi translate="no">{actorName(last)}</bdi> <Ago at={last.at} />
                </span>
              </dd>
            </div>
          )}
        </dl>
      )}
    </li>
  )
}

/** In the place of the button: the change cannot be undone. */
function ChangedSince({ fields }: { fields: string[] }) {
  const names = new Intl.ListFormat('en').format(fields)
  return (
    <span className="faint small-text" title={`It cannot be undone, because ${names} changed since`}>
      <span className="hidden">{names} </span>changed since
    </span>
  )
}

function Sign({ entry }: { entry: Entry }) {
  const { before, after, proposed_by } = entry
  const Icon = proposed_by !== null ? Bot : before === null ? Plus : after === null ? Trash2 : undefined
  return (
    <span className="avatar" aria-hidden="true">
      {Icon === undefined ? [...actorName(entry)][0]?.toUpperCase() : <Icon className="i" />}
    </span>
  )
}

/** `changed status`, `changed 2 fields`, `created the user`. */
function verbOf({ one }: Resource, { before, after }: Entry, fields: { label: string }[]): string {
  // A damaged entry has neither.
  if (before === null && after !== null) return `created the ${one}`
  if (after === null && before !== null) return `deleted the ${one}`
  const [field, ...others] = fields
  if (field === undefined) return `changed the ${one}`
  return others.length === 0 ? `changed ${field.label.toLowerCase()}` : `changed ${fields.length} fields`
}
