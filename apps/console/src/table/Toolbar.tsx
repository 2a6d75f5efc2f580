import { type KeyboardEvent, useId, useRef, useState } from 'react'
import { filterText } from '../resources/field.ts'
import type { Resource } from '../resources/resource.ts'
import { Button } from '../ui/Button.tsx'
import { Columns } from './Columns.tsx'
import type { useColumns } from './columns.ts'
import { Filters } from './Filters.tsx'
import { SavedViews } from './SavedViews.tsx'
import { Search } from './Search.tsx'
import { filtersOf, type View, withoutFilters } from './view.ts'

interface Props {
  resource: Resource
  view: View
  columns: ReturnType<typeof useColumns>
  /** @param isReplaced whether the Back button does not return to the view before */
  onChange: (changes: Partial<View>, isReplaced?: boolean) => void
}

const PANELS = ['Filters', 'Columns', 'Views'] as const

/** The search box, the conditions in force, and one open panel: filters, columns or saved views. */
export function Toolbar({ resource, view, columns, onChange }: Props) {
  const [open, setOpen] = useState<(typeof PANELS)[number]>()
  const panelId = useId()
  const openers = useRef<HTMLDivElement>(null)
  const set = resource.filters.filter(({ name }) => name in filtersOf(resource, view))
  const close = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || event.defaultPrevented) return
    openers.current?.querySelector<HTMLElement>('[aria-expanded=true]')?.focus()
    setOpen(undefined)
  }
  return (
    <search className="toolbar" aria-label={`Find ${resource.many}`}>
      <div className="tools">
        {resource.search !== undefined && (
          <Search
            field={resource.search}
            label={`Search ${resource.many}`}
            value={String(view.q ?? '')}
            onChange={(q, isTypedOn) => onChange({ q }, isTypedOn)}
          />
        )}
        <div ref={openers} className="buttons">
          {PANELS.map((panel) => (
            <Button
              key={panel}
              aria-expanded={open === panel}
              aria-controls={open === panel ? panelId : undefined}
              onPress={() => setOpen(open === panel ? undefined : panel)}
            >
              {panel}
            </Button>
          ))}
        </div>
      </div>
      {open !== undefined && (
        // biome-ignore lint/a11y/noStaticElementInteractions: Escape closes the panel from any of its inputs
        <div id={panelId} className={`panel ${open.toLowerCase()}`} onKeyDown={close}>
          {open === 'Filters' && <Filters resource={resource} view={view} onChange={onChange} />}
          {open === 'Columns' && <Columns resource={resource} columns={columns} />}
          {open === 'Views' && <SavedViews resource={resource} view={view} />}
        </div>
      )}
      {set.length > 0 && (
        <ul className="conditions" aria-label="Conditions">
          {set.map((field) => (
            <li key={field.name}>
              <Button
                className="small"
                aria-label={`Remove ${field.label} ${filterText(field, view[field.name])}`}
                onPress={() => onChange({ [field.name]: undefined })}
              >
                <span>{field.label}</span> <bdi translate="no">{filterText(field, view[field.name])}</bdi>{' '}
                <span aria-hidden="true">×</span>
              </Button>
            </li>
          ))}
          <li>
            <Button className="small" onPress={() => onChange(withoutFilters(resource))}>
              Clear filters
            </Button>
          </li>
        </ul>
      )}
    </search>
  )
}
