import { ListFilter, SlidersHorizontal, X } from 'lucide-react'
import { lazy } from 'react'
import { useLabel } from '../resources/labels.ts'
import type { Resource } from '../resources/resource.ts'
import { Button } from '../ui/Button.tsx'
import { Popup } from '../ui/Popup.tsx'
import { type Condition, conditionText, setConditions, without } from './conditions.ts'
import { Search } from './Search.tsx'
import type { useColumns } from './shown-columns.ts'
import type { View } from './view.ts'

/** Loads the panels, which the table does not need to appear. */
export const loadPanels = () => import('./panels.ts')
const ViewOptions = lazy(() => loadPanels().then(({ ViewOptions }) => ({ default: ViewOptions })))
const ConditionForm = lazy(() => loadPanels().then(({ ConditionForm }) => ({ default: ConditionForm })))
const Filters = lazy(() => loadPanels().then(({ Filters }) => ({ default: Filters })))

interface ChipProps {
  resource: Resource
  view: View
  condition: Condition
  onChange: (changes: Partial<View>) => void
}

interface Props {
  resource: Resource
  view: View
  columns: ReturnType<typeof useColumns>
  /** @param isReplaced whether the Back button does not return to the view before */
  onChange: (changes: Partial<View>, isReplaced?: boolean) => void
}

/** The search box, a chip for each condition, and what shows of the records. */
export function Toolbar({ resource, view, columns, onChange }: Props) {
  const set = setConditions(resource, view)
  return (
    <search className="row toolbar" aria-label={`Find ${resource.many}`}>
      {resource.search !== undefined && (
        <Search
          field={resource.search}
          label={`Search ${resource.many}`}
          value={String(view.q ?? '')}
          onChange={(q, isTypedOn) => onChange({ q }, isTypedOn)}
        />
      )}
      <div className="row chips">
        {set.map((condition) => (
          <Chip key={condition.label} {...{ resource, view, condition, onChange }} />
        ))}
        <Popup className="button ghost" icon={ListFilter} button="Filter">
          {(close) => <Filters {...{ resource, view, onChange }} onClose={close} />}
        </Popup>
        {set.length > 1 && (
          <Button className="button ghost" onPress={() => onChange(without(resource.filters))}>
            Clear filters
          </Button>
        )}
      </div>
      <Popup
        className="button ghost icon"
        panelClassName="menu anchored options"
        label="Columns and density"
        icon={SlidersHorizontal}
      >
        {() => <ViewOptions {...{ resource, columns, onChange }} sort={view.sort} />}
      </Popup>
    </search>
  )
}

function Chip({ resource, view, condition, onChange }: ChipProps) {
  const { name = '', refersTo } = condition.all.find((field) => field.refersTo !== undefined) ?? {}
  // The text has the label as soon as it is read.
  useLabel(refersTo, view[name])
  const { label, value } = conditionText(resource, condition, view)
  return (
    <span className="chip">
      <Popup
        className="text"
        button={
          <>
            {label}{' '}
            <b translate="no" dir="auto">
              {value}
            </b>
          </>
        }
      >
        {(close) => <ConditionForm {...{ resource, view, condition, onChange }} onClose={close} />}
      </Popup>
      <Button icon={X} aria-label={`Remove ${label} ${value}`} onPress={() => onChange(without(condition.all))} />
    </span>
  )
}
