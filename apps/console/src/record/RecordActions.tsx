import { Ellipsis, Link, Pencil, Trash2 } from 'lucide-react'
import { type Action, editVerb, type Resource, type Row } from '../resources/resource.ts'
import { Button } from '../ui/Button.tsx'
import { Popup } from '../ui/Popup.tsx'
import { copyLink } from './RecordCode.tsx'

interface Props {
  resource: Resource
  row: Row
  can: (verb: string) => boolean
  isPending: (verb: string) => boolean
  onAct: (action: Action) => void
  onEdit: () => void
  onDelete: () => void
}

/** What can be done with a record. */
export function RecordActions({ resource, row, can, isPending, onAct, onEdit, onDelete }: Props) {
  const actions = resource.actions.filter(({ verb, isFor }) => can(verb) && isFor(row))
  return (
    <div className="buttons">
      <Popup label="More actions" className="button icon" button={<Ellipsis aria-hidden="true" className="i" />}>
        {(close) => (
          // biome-ignore lint/a11y/noStaticElementInteractions lint/a11y/useKeyWithClickEvents: its buttons close it
          <div onClick={close}>
            <Button className="item" onPress={() => copyLink(resource, row)}>
              <Link aria-hidden="true" className="i" />
              Copy link
            </Button>
            {can('delete') && (
              <Button className="item danger" isDisabled={isPending('delete')} onPress={onDelete}>
                <Trash2 aria-hidden="true" className="i" />
                Delete
              </Button>
            )}
          </div>
        )}
      </Popup>
      {actions.map((action, index) => (
        // The index as key keeps the focus when Deactivate becomes Activate.
        <Button key={index} isDisabled={isPending(action.verb)} onPress={() => onAct(action)}>
          {action.label}
        </Button>
      ))}
      {can(editVerb(resource.noun)) && (
        <Button className="button primary" onPress={onEdit}>
          <Pencil aria-hidden="true" className="i" />
          Edit…
        </Button>
      )}
    </div>
  )
}
