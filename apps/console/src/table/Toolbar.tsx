import { type KeyboardEvent, type ReactNode, Suspense, startTransition, useId, useRef, useState } from 'react'
import { filterText } from '../resources/field.ts'
import type { Resource } from '../resources/resource.ts'
import { Button } from '../ui/Button.tsx'
import { Search } from './Search.tsx'
import { filtersOf, type View, withoutFilters } from './view.ts'

interface Props {
  resource: Resource
  view: View
  /** The panels, which may load when they open. */
  panels: Record<(typeof PANELS)[number], ReactNode>
  /** @param isReplaced whether the Back button does not return to the view before */
  onChange: (changes: Partial<View>, isReplaced?: boolean) => void
}

const PANELS = ['Filters', 'Columns'] as const

/** The search box, the conditions in force, and one open panel: filters or columns. */
export function Toolbar({ resource, view, panels, onChange }: Props) {
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
              // A panel appears with its content: one that grows would move the page under the pointer.
              onPress={() => startTransition(() => setOpen(open === panel ? undefined : panel))}
            >
              {panel}
            </Button>
          ))}
        </div>
      </div>
      <Suspense>
        {open !== undefined && (
          // biome-ignore lint/a11y/noStaticElementInteractions: Escape closes the panel from any of its inputs
          <div id={panelId} className={`panel ${open.toLowerCase()}`} onKeyDown={close}>
            {panels[open]}
          </div>
        )}
      </Suspense>
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
