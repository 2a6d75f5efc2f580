import { Plus, Redo2, Trash2, Undo2 } from 'lucide-react'
import { Link } from 'wouter'
import { DiffRow, DiffRows } from '../changes/DiffList.tsx'
import type { Resource, Row } from '../resources/resource.ts'
import { actorName } from '../table/actor.ts'
import { Ago } from '../ui/Ago.tsx'
import { Button } from '../ui/Button.tsx'
import { ActorSign } from './ActorSign.tsx'
import {
  changedFields,
  type Entry,
  type Obstacle,
  obstacleOf,
  type Told,
  useActorName,
  useProposalOf,
} from './history.ts'

interface Props {
  resource: Resource
  told: Told
  /** The record as it is. */
  stored: Row | undefined
  /** The later changes that are not undone. */
  newer: Entry[]
  /** Called with the request to undo. */
  onUndo: (requestId: string) => void
}

/** One change of a record: who made it, when, and what it changed. */
export function HistoryEntry({ resource, told: { entry, last, isUndone }, stored, newer, onUndo }: Props) {
  const { at, proposed_by } = entry
  const fields = changedFields(resource, entry)
  const { data: proposal } = useProposalOf(entry)
  const proposer = useActorName(proposed_by)
  const actor = actorName(entry)
  const did = verbOf(resource, entry, fields)
  const made = isUndone ? last : entry
  const request = made?.request_id
  const obstacle = made && obstacleOf(resource, made, stored, newer)
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
      {obstacle !== undefined && <Since {...obstacle} />}
      {request != null && obstacle === undefined && (
        <Button
          className="small button ghost"
          icon={isUndone ? Redo2 : Undo2}
          aria-label={`${isUndone ? 'Redo' : 'Undo'}: ${actor} ${did}`}
          onPress={() => onUndo(request)}
        >
          {isUndone ? 'Redo' : 'Undo'}
        </Button>
      )}
      {(fields.length > 0 || last !== undefined || proposal) && (
        <dl className="diff">
          <DiffRows columns={fields} change={entry} />
          {proposal && (
            <DiffRow label="reason">
              <bdi className="soft">{proposal.reason}</bdi>{' '}
              <Link href={`/proposals/${proposal.id}`}>Proposal {proposal.id}</Link>
            </DiffRow>
          )}
          {last !== undefined && (
            <DiffRow label={isUndone ? 'undone' : 'redone'}>
              <span className="faint">
                by <bdi translate="no">{actorName(last)}</bdi> <Ago at={last.at} />
              </span>
            </DiffRow>
          )}
        </dl>
      )}
    </li>
  )
}

/** In the place of the button: the change cannot be undone. */
export function Since({ names, text }: Obstacle) {
  return (
    <span className="faint small-text" title={`It cannot be undone: ${[names, text].filter(Boolean).join(' ')}`}>
      <span className="hidden">{names} </span>
      {text}
    </span>
  )
}

function Sign({ entry }: { entry: Entry }) {
  const { before, after, actor, proposed_by } = entry
  const proposer = useActorName(proposed_by)
  if (proposer !== null) return <ActorSign actor={proposed_by ?? actor} name={proposer} />
  const Icon = before === null ? Plus : after === null ? Trash2 : undefined
  if (Icon === undefined) return <ActorSign actor={actor} name={actorName(entry)} />
  return (
    <span className="avatar" aria-hidden="true">
      <Icon />
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
