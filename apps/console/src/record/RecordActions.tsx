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
      <Popup label="More actions" className="button icon" icon={Ellipsis}>
        {(close) => (
          // biome-ignore lint/a11y/noStaticElementInteractions lint/a11y/useKeyWithClickEvents: its buttons close it
          <div onClick={close}>
            <Button className="item" icon={Link} onPress={() => copyLink(resource, row)}>
              Copy link
            </Button>
            {can('delete') && (
              <Button className="item danger" icon={Trash2} isDisabled={isPending('delete')} onPress={onDelete}>
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
        <Button className="button primary" icon={Pencil} onPress={onEdit}>
          Edit…
        </Button>
      )}
    </div>
  )
}
