import { ChevronRight } from 'lucide-react'
import { useState } from 'react'
import type { Resource } from '../resources/resource.ts'
import { Button } from '../ui/Button.tsx'
import { ConditionForm } from './ConditionForm.tsx'
import { type Condition, conditionsOf } from './conditions.ts'
import type { View } from './view.ts'

interface Props {
  resource: Resource
  view: View
  onChange: (changes: Partial<View>) => void
  onClose: () => void
}

/** The conditions that can be added, and the input of the chosen one. */
export function Filters({ resource, view, onChange, onClose }: Props) {
  const [chosen, choose] = useState<Condition>()
  if (chosen !== undefined) {
    return (
      <div ref={focusFirst}>
        <ConditionForm resource={resource} view={view} condition={chosen} onChange={onChange} onClose={onClose} />
      </div>
    )
  }
  return (
    <ul>
      {conditionsOf(resource, view)
        .filter(({ isOffered }) => isOffered)
        .map((condition) => (
          <li key={condition.label}>
            <Button className="item" onPress={() => choose(condition)}>
              {condition.label}
              <ChevronRight className="trailing" />
            </Button>
          </li>
        ))}
    </ul>
  )
}

function focusFirst(element: HTMLElement | null) {
  element?.querySelector<HTMLElement>('input, button')?.focus()
}
